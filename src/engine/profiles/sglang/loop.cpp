#include <fmt/format.h>

#include <algorithm>

#include "engine/profiles/sglang/scheduler.h"

namespace kvsim::engine::sglang {
namespace {

// A round without a batch lets copies end and the queue be tried again; after so many nothing will
// change any more.
constexpr int most_empty_rounds = 3;

}  // namespace

Scheduler::Scheduler(const SchedulerLimits& limits, RequestTable& requests)
    : limits_(limits),
      requests_(requests),
      kv_(limits, requests),
      ratio_(limits.sglang.schedule_conservativeness),
      waiting_(limits, requests, kv_),
      adder_(limits, kv_),
      mixed_(limits.sglang.enable_mixed_chunk && adder_.chunks()),
      preempting_(limits.sglang.enable_priority_scheduling &&
                  !limits.sglang.disable_priority_preemption) {}

std::optional<std::string> Scheduler::why_unservable(const workload::RequestSpec& spec) const {
  if (spec.prompt_tokens + 1 > limits_.max_model_len)
    return fmt::format(
        "its prompt of {} tokens leaves no room for an output token within context_length {}",
        spec.prompt_tokens, limits_.max_model_len);
  const std::int64_t room = limits_.max_model_len - spec.prompt_tokens;
  const std::int64_t outputs = std::min({spec.output_tokens, spec.max_tokens, room});
  const std::int64_t fitting = kv_.pool() - kv_.page() - 1 - spec.prompt_tokens;
  const std::int64_t most = std::max(outputs, std::min({spec.max_tokens, room, fitting}));
  // Admission wants the prompt, the outputs that may come and a page to be less than the pool, at
  // first and whenever the request comes back with the outputs it has.
  const std::int64_t needed =
      spec.prompt_tokens +
      std::min(most, std::max<std::int64_t>(outputs - 1, 0) + clip_max_new_tokens) + kv_.page();
  if (needed < kv_.pool()) return std::nullopt;
  return fmt::format("admission needs {} of {} slots to be free (prompt, outputs and a page)",
                     needed + 1, kv_.pool());
}

void Scheduler::submit(Slot slot) {
  if (!has_work() && steps_in_flight() == 0 && requests_[slot].spec.arrival > idle_since_)
    go_idle();
  kv_.arrive(slot);
  waiting_.push(slot);
}

// What rounds without a batch leave behind.
void Scheduler::go_idle() {
  merge_last_batch();
  ended_remaining_.clear();
  full_ = false;
  ratio_.reset();
  kv_.cache().copies_ended();
}

void Scheduler::schedule(StepPlan& plan) {
  for (int round = 0; round < most_empty_rounds; ++round) {
    form_batch(plan);
    if (!plan.scheduled.empty() || steps_in_flight() > 0) break;
    if (round > 0) ratio_.reset();  // idle from the second round without a batch on
  }
  plan.running = kv_.admitted();
  plan.waiting = static_cast<std::int64_t>(waiting_.size());
  plan.free_blocks = free_blocks();
  if (!plan.preempted.empty())
    plan.refusal = Refusal::preemption;
  else if (!waiting_.empty())
    plan.refusal = refusal_;
  StepPlan::Radix& radix = *plan.radix;
  radix.available = kv_.available();
  radix.evictable = kv_.cache().evictable();
  radix.locked = kv_.cache().locked();
  radix.new_token_ratio = ratio_.value();
  plan.host_used = kv_.cache().host_used();
}

void Scheduler::form_batch(StepPlan& plan) {
  plan.radix = StepPlan::Radix{};
  kv_.cache().copies_ended();
  if (chunked_ != no_slot) kv_.store(chunked_, kv::InsertKind::chunk);
  merge_last_batch();
  if (!prefill(plan)) decode(plan);
  if (plan.scheduled.empty()) return;
  const bool is_decode = plan.radix->mode == StepMode::decode;
  prefills_[static_cast<std::size_t>(scheduled_++ % 2)] = is_decode ? 0 : adder_.batch().size();
}

void Scheduler::merge_last_batch() {
  if (last_shrank_) full_ = false;
  // A batch that takes the place of an empty one brings its own mark along.
  if (!last_.empty() && running_size() == 0) full_ = false;
  running_.insert(running_.end(), last_.begin(), last_.end());
  last_.clear();
  last_shrank_ = false;
}

// Requests that may join the batch. The one in the middle of its prefill holds a seat.
std::int64_t Scheduler::free_seats() const {
  return limits_.max_num_seqs - std::max(running_size(), kv_.admitted());
}

double Scheduler::reservation(std::int64_t remaining) const {
  return static_cast<double>(std::min(remaining, clip_max_new_tokens)) * ratio_.value();
}

double Scheduler::reservation() const {
  double sum = 0;
  for (const Slot slot : running_) sum += reservation(kv_.remaining(slot));
  for (const std::int64_t remaining : ended_remaining_) sum += reservation(remaining);
  return sum;
}

bool Scheduler::prefill(StepPlan& plan) {
  if (preempting_) full_ = false;
  if ((full_ || waiting_.empty()) && chunked_ == no_slot) return false;
  if (free_seats() <= 0 && chunked_ == no_slot && !preempting_) {
    full_ = true;
    refusal_ = Refusal::max_num_seqs;
    return false;
  }
  waiting_.order(running_);
  adder_.begin(reservation(), mixed_ ? running_size() : 0);
  if (chunked_ != no_slot) {
    kv_.look_up_chunk(chunked_);
    const PrefillAdder::Chunk chunk = adder_.add_chunk(chunked_);
    if (chunk == PrefillAdder::Chunk::waits) return false;
    if (chunk == PrefillAdder::Chunk::last) chunked_ = no_slot;
  }
  add_waiting(plan);
  if (adder_.batch().empty()) return false;
  run_prefill(plan);
  return true;
}

void Scheduler::add_waiting(StepPlan& plan) {
  refusal_ = Refusal::none;
  victims_.clear();
  std::size_t added = 0;
  while (added < waiting_.size()) {
    const Slot slot = waiting_[added];
    if (static_cast<std::int64_t>(adder_.batch().size()) >= free_seats()) full_ = true;
    if (full_ && (!preempting_ || !preempt_for(slot, plan))) {
      refusal_ = Refusal::max_num_seqs;
      break;
    }
    kv_.look_up(slot);
    const PrefillAdder::Answer answer = adder_.add(slot);
    if (answer.loaded > 0)
      (answer.added ? plan.loaded : plan.loaded_only).push_back({slot, answer.loaded});
    if (answer.added) ++added;
    if (answer.verdict == PrefillAdder::Verdict::go_on) continue;
    stop_adding(answer.verdict);
    break;
  }
  waiting_.pop_front(added);
  for (const Slot slot : victims_) waiting_.push(slot);
}

void Scheduler::stop_adding(PrefillAdder::Verdict verdict) {
  refusal_ = Refusal::token_budget;
  if (verdict != PrefillAdder::Verdict::no_token) return;
  refusal_ = Refusal::kv_blocks;
  // With a host pool a copy that ends may make room though nobody runs.
  full_ =
      !limits_.sglang.enable_hierarchical_cache || !adder_.batch().empty() || running_size() > 0;
}

void Scheduler::run_prefill(StepPlan& plan) {
  const std::vector<Slot>& batch = adder_.batch();
  if (adder_.cut() != no_slot) chunked_ = adder_.cut();
  // The chunk that goes on comes first, if there is one: everybody behind it is new.
  for (const Slot slot : batch) {
    RequestState& r = requests_[slot];
    if (r.computed > 0) continue;
    kv_.admit(slot);
    plan.admitted.push_back({slot, kv_[slot].prefix, r.tokens, r.preemptions > 0});
  }
  kv_.take_prefill(batch);
  for (const Slot slot : batch) {
    const RequestKv& held = kv_[slot];
    plan.scheduled.push_back({slot, held.extend, held.prefix, 0, slot != chunked_});
    if (slot != chunked_) last_.push_back(slot);
  }
  last_shrank_ = chunked_ != no_slot;
  if (mixed_ && running_size() > 0) mix_decodes(plan);
}

void Scheduler::mix_decodes(StepPlan& plan) {
  ended_remaining_.clear();
  // Decodes that do not fit beside the prefills stay out (SGLang would run out of memory).
  if (running_.empty() || !schedule_decodes(plan)) return;
  plan.radix->mode = StepMode::mixed;
  last_.insert(last_.end(), running_.begin(), running_.end());
  running_.clear();
}

void Scheduler::complete(const StepPlan& plan) {
  const std::size_t prefills = prefills_[static_cast<std::size_t>(completed_++ % 2)];
  if (prefills == 0) {
    for (const Slot slot : plan.finished) leave(slot);
  } else {
    for (std::size_t i = 0; i < plan.scheduled.size(); ++i) {
      const StepPlan::Scheduled& item = plan.scheduled[i];
      const RequestState& r = requests_[item.slot];
      if (!item.samples || item.epoch != r.epoch) continue;
      if (r.tokens >= r.stop_at)
        leave(item.slot);
      else if (i < prefills)
        kv_.store(item.slot, kv::InsertKind::whole);
    }
  }
  if (!plan.finished.empty()) sweep();
}

void Scheduler::leave(Slot slot) {
  kv_.finish(slot);
  kv_[slot].ended = true;
  idle_since_ = requests_[slot].last_token;
}

void Scheduler::sweep() {
  const auto ended = [&](Slot slot) { return kv_[slot].ended; };
  last_shrank_ |= std::erase_if(last_, ended) > 0;
  for (const Slot slot : running_)
    if (ended(slot)) ended_remaining_.push_back(kv_.remaining(slot));
  std::erase_if(running_, ended);
}

}  // namespace kvsim::engine::sglang
