#pragma once
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/profiles/sglang/kv_state.h"

namespace kvsim::engine::sglang {

// Waiting requests in the order in which admission tries them (managers/schedule_policy.py,
// SchedulePolicy). Sorting is stable and stays: what one round has sorted is where the next begins.
//
//   fcfs         order of entry; with priorities by (priority, entry)
//   lof          longest max_new_tokens first; with priorities by (priority, max_new_tokens)
//   lpm          longest cached prefix first, on the device or the host; up to 128 waiting
//                requests, beyond that fcfs. Of requests that find at most 32 tokens on the device
//                and share 32 or more with one another only the first keeps its place, the others
//                go to the end: it computes for all
//   dfs-weight   depth first through the tree, children with more waiting requests below them first
//   random       shuffled every round
//   routing-key  keys with more running requests first; a request's key is its session
//
// Without a tree lpm and dfs-weight are fcfs. fcfs and lof cost O(log n) per entry and nothing per
// round, lpm a lookup per waiting request, dfs-weight also the children of the nodes it goes
// through, the other two O(n).
class WaitingQueue {
 public:
  WaitingQueue(const SchedulerLimits& limits, RequestTable& requests, KvState& kv);

  void push(Slot slot);  // gets a new entry time
  // Before a prefill batch is formed, with what runs.
  void order(std::span<const Slot> running);
  void pop_front(std::size_t n) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(n));
  }
  Slot operator[](std::size_t i) const { return queue_[i]; }
  std::size_t size() const { return queue_.size(); }
  bool empty() const { return queue_.empty(); }
  // Priority as this engine counts it: the larger runs first.
  std::int64_t urgency(Slot slot) const {
    const std::int64_t priority = requests_[slot].spec.priority;
    return low_first_ ? -priority : priority;
  }

 private:
  bool before(Slot a, Slot b) const;
  void match_all();
  void by_prefix();
  void by_weight();
  void visit(kv::NodeId node);
  void shuffle();
  void by_running_key(std::span<const Slot> running);
  template <class Key>
  void sort_by(Key key);

  RequestTable& requests_;
  KvState& kv_;
  SchedulePolicy policy_;
  bool by_priority_, low_first_;
  std::int64_t entries_ = 0;
  std::deque<Slot> queue_;
  kv::RadixTree scratch_;  // prompts of this round's leaders
  std::mt19937_64 random_;
  std::vector<std::pair<std::int64_t, Slot>> sorting_;  // reused
  std::vector<std::int64_t> cached_;                    // by place: tokens found
  std::unordered_map<kv::NodeId, std::int64_t> weight_;
  std::unordered_map<kv::NodeId, std::vector<Slot>> at_node_;
};

}  // namespace kvsim::engine::sglang
