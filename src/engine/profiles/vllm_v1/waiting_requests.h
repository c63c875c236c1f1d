#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "engine/profile.h"

namespace kvsim::engine {

// The waiting requests of vllm-v1 in the order in which a step tries them (vllm/v1/core/sched,
// request_queue.py and scheduler.py, main of 2026-08-17).
//
// Two queues: requests that a pass skipped because they could not run yet, and the others. By order
// of arrival the skipped ones come first and a preempted request goes to the head of the others; by
// priority the more urgent of both heads comes. Those that one pass skips return ahead of those
// skipped before, in their order. With one queue (2025) they return to its head.
//
//   push_back, push_front, pop   O(1); by priority O(n)
class WaitingRequests {
 public:
  WaitingRequests(const SchedulerLimits& limits, const RequestTable& requests)
      : requests_(requests),
        by_priority_(limits.priority_policy),
        one_queue_(limits.one_waiting_queue) {}

  void push_back(Slot slot) { by_priority_ ? insert(waiting_, slot) : waiting_.push_back(slot); }
  // A preempted request.
  void push_front(Slot slot) { by_priority_ ? insert(waiting_, slot) : waiting_.push_front(slot); }

  bool empty() const { return waiting_.empty() && skipped_.empty(); }
  std::size_t size() const { return waiting_.size() + skipped_.size(); }

  // The request to try next; requires one in a queue. Gone from there by pop() or skip(), which
  // keeps it until end_pass().
  Slot front() { return queue().front(); }
  void pop() { queue().pop_front(); }
  void skip() {
    passed_over_.push_back(front());
    pop();
  }
  void end_pass() {
    if (passed_over_.empty()) return;
    std::deque<Slot>& queue = one_queue_ ? waiting_ : skipped_;
    if (by_priority_)
      for (const Slot slot : passed_over_) insert(queue, slot);
    else
      queue.insert(queue.begin(), passed_over_.begin(), passed_over_.end());
    passed_over_.clear();
  }
  void erase(Slot slot) {
    std::erase(waiting_, slot);
    std::erase(skipped_, slot);
  }

  // Smaller values first, then the earlier arrival.
  bool more_urgent(Slot a, Slot b) const {
    const workload::RequestSpec &x = requests_[a].spec, &y = requests_[b].spec;
    if (x.priority != y.priority) return x.priority < y.priority;
    if (x.arrival != y.arrival) return x.arrival < y.arrival;
    return x.index < y.index;
  }

 private:
  std::deque<Slot>& queue() {
    if (skipped_.empty()) return waiting_;
    if (by_priority_ && !waiting_.empty() && more_urgent(waiting_.front(), skipped_.front()))
      return waiting_;
    return skipped_;
  }
  void insert(std::deque<Slot>& queue, Slot slot) {
    queue.insert(
        std::ranges::upper_bound(queue, slot, [&](Slot a, Slot b) { return more_urgent(a, b); }),
        slot);
  }

  const RequestTable& requests_;
  bool by_priority_, one_queue_;
  std::deque<Slot> waiting_, skipped_;
  std::vector<Slot> passed_over_;  // in this pass
};

}  // namespace kvsim::engine
