#include <algorithm>

#include "engine/profiles/sglang/scheduler.h"

// Decode steps, and who has to give way when slots or seats run out.
namespace kvsim::engine::sglang {

void Scheduler::decode(StepPlan& plan) {
  if (running_size() == 0) return;
  bool shrank = !ended_remaining_.empty();
  ended_remaining_.clear();
  if (!running_.empty()) {
    const std::size_t before = running_.size();
    if (kv_.room_for_decode(running_))
      ratio_.decay();
    else
      retract(plan);
    shrank |= running_.size() < before;
  }
  if (shrank) full_ = false;
  if (running_.empty()) return;
  plan.radix->mode = StepMode::decode;
  if (!schedule_decodes(plan)) kv_.out_of_memory(kv_.decode_need(running_));
}

bool Scheduler::schedule_decodes(StepPlan& plan) {
  if (!kv_.take_decode(running_)) return false;
  for (const Slot slot : running_)
    plan.scheduled.push_back({slot, 1, requests_[slot].computed - 1, 0, true});
  return true;
}

// Those with the fewest outputs go first, of equals the one with the longest prompt; with
// retraction_policy priority the least urgent. One goes in any case, and one always stays.
void Scheduler::retract(StepPlan& plan) {
  const bool by_priority = limits_.sglang.retraction_policy == RetractionPolicy::priority;
  std::ranges::stable_sort(running_, [&](Slot a, Slot b) {
    if (by_priority && waiting_.urgency(a) != waiting_.urgency(b))
      return waiting_.urgency(a) > waiting_.urgency(b);
    if (kv_.outputs(a) != kv_.outputs(b)) return kv_.outputs(a) > kv_.outputs(b);
    return requests_[a].prompt_tokens < requests_[b].prompt_tokens;
  });
  victims_.clear();
  for (bool first = true; first || !kv_.room_for_decode(running_); first = false) {
    if (running_.size() == 1) break;
    const Slot victim = running_.back();
    running_.pop_back();
    victims_.push_back(victim);
    release(victim, static_cast<std::int64_t>(running_.size()), plan);
  }
  std::int64_t outputs = 0, most = 0;
  for (const Slot slot : running_) {
    outputs += kv_.outputs(slot);
    most += kv_[slot].max_new;
  }
  ratio_.after_retraction(static_cast<std::int64_t>(running_.size()), outputs, most);
  for (const Slot slot : victims_) waiting_.push(slot);
}

// A victim's slots are free at once; room is made for those that go on.
void Scheduler::release(Slot slot, std::int64_t others, StepPlan& plan) {
  RequestState& r = requests_[slot];
  plan.preempted.push_back({slot, r.computed});
  kv_.drop(slot);
  kv_.make_room(others * NewTokenRatio::retract_steps);
  ++r.preemptions;
  ++r.epoch;  // its token in flight is dropped
}

// All seats are taken: the least urgent running requests give way to one that is more urgent by
// more than the threshold, of equals the last to have queued, as many as it takes until their
// reservations cover what it lacks. The length that it wants to compute is that of its last
// lookup.
bool Scheduler::preempt_for(Slot slot, StepPlan& plan) {
  const std::int64_t threshold = limits_.sglang.priority_scheduling_preemption_threshold;
  const auto gives_way = [&](Slot other) {
    return waiting_.urgency(slot) - waiting_.urgency(other) > threshold;
  };
  order_.clear();
  std::ranges::copy_if(running_, std::back_inserter(order_), gives_way);
  if (order_.empty()) return false;
  std::ranges::stable_sort(order_, [&](Slot a, Slot b) {
    if (waiting_.urgency(a) != waiting_.urgency(b))
      return waiting_.urgency(a) < waiting_.urgency(b);
    return kv_[a].entry > kv_[b].entry;
  });
  double lacking =
      static_cast<double>(kv_[slot].extend +
                          std::min<std::int64_t>(kv_[slot].max_new, clip_max_new_tokens)) -
      adder_.free_total();
  std::size_t taken = 0;
  while (taken < order_.size()) {
    lacking -= reservation(kv_.remaining(order_[taken++]));
    if (lacking <= 0) break;
  }
  if (lacking > 0) return false;
  order_.resize(taken);
  std::int64_t others = running_size();
  const auto is_victim = [&](Slot other) {
    return std::ranges::find(order_, other) != order_.end();
  };
  for (const Slot other : running_) {
    if (!is_victim(other)) continue;
    adder_.give_back(reservation(kv_.remaining(other)));
    release(other, --others, plan);
    victims_.push_back(other);
  }
  std::erase_if(running_, is_victim);
  return true;
}

}  // namespace kvsim::engine::sglang
