#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "diag/check.h"
#include "engine/profile.h"
#include "engine/profiles/vllm_v1/step_adapters.h"
#include "engine/profiles/vllm_v1/waiting_requests.h"
#include "kv/block_manager.h"

namespace kvsim::engine {

// The scheduler of vllm-v1 (profiles/vllm_v1.h) over a KV cache: OneGroupKv, or GroupedKv.
template <class Kv>
class VllmV1 final : public Profile {
 public:
  VllmV1(const SchedulerLimits& limits, RequestTable& requests)
      : limits_(limits),
        requests_(requests),
        speculative_(limits.vllm.speculative),
        drafts_(speculative_ ? static_cast<std::int32_t>(speculative_->num_speculative_tokens) : 0),
        draft_slots_(speculative_ ? speculative_->extra_input_slots() : 0),
        lookahead_(speculative_ ? speculative_->lookahead_tokens() : 0),
        plain_(!speculative_ && !limits.async_scheduling),
        kv_(limits),
        waiting_(limits, requests),
        adapters_(limits.vllm.max_loras) {}

  std::optional<std::string> why_unservable(const workload::RequestSpec& spec) const override {
    if (spec.prompt_tokens + 1 > limits_.max_model_len)
      return fmt::format(
          "its prompt of {} tokens leaves no room for an output token within max_model_len {}",
          spec.prompt_tokens, limits_.max_model_len);
    // The last output token is never computed, so it needs no slot.
    const std::int64_t most =
        std::min(spec.prompt_tokens + std::min(spec.output_tokens, spec.max_tokens),
                 limits_.max_model_len) -
        1;
    if (std::optional<std::string> why = kv_.why_too_large(spec.prompt_tokens, most)) return why;
    const std::int64_t step = limits_.max_num_batched_tokens - draft_slots_;
    if (step < 1)
      return fmt::format("max_num_batched_tokens {} holds no token beside {} slots of the drafter",
                         limits_.max_num_batched_tokens, draft_slots_);
    if (!limits_.enable_chunked_prefill && spec.prompt_tokens > step)
      return fmt::format(
          "its prompt of {} tokens exceeds the {} that fit a step of max_num_batched_tokens {} and "
          "chunked prefill is off",
          spec.prompt_tokens, step, limits_.max_num_batched_tokens);
    return std::nullopt;
  }

  void submit(Slot slot) override { waiting_.push_back(slot); }
  bool has_work() const override { return !running_.empty() || !waiting_.empty(); }

  void schedule(StepPlan& plan) override {
    // A request that preempts itself ends vLLM's pass over the running ones: the step may stay
    // empty though others could go on. Such a step runs no model and takes no time; the next one
    // follows.
    for (std::size_t victims = plan.preempted.size(); plan.scheduled.empty();
         victims = plan.preempted.size()) {
      budget_ = input_budget_ = limits_.max_num_batched_tokens;
      drafted_ = false;
      kv_.begin_step();
      schedule_running(plan);
      const bool preempted = plan.preempted.size() > victims;
      if (preempted)
        plan.refusal = Refusal::preemption;
      else
        admit_waiting(plan);
      kv_.end_step();
      if (!preempted) break;
    }
    plan.running = static_cast<std::int64_t>(running_.size());
    plan.waiting = static_cast<std::int64_t>(waiting_.size());
    plan.free_blocks = kv_.pool().free();
  }

  void complete(const StepPlan& plan) override {
    if (limits_.async_scheduling || drafts_ > 0)
      for (const StepPlan::Scheduled& item : plan.scheduled) settle(item);
    if (plan.finished.empty()) return;
    for (const Slot slot : plan.finished) {
      // Preempted while its last token was on its way: it waits, without blocks.
      if (!kv_.holds(requests_[slot])) waiting_.erase(slot);
      kv_.free(requests_[slot]);
      requests_[slot].stop_at = 0;  // marks it for the sweep below
    }
    std::erase_if(running_, [&](Slot slot) { return requests_[slot].stop_at == 0; });
  }

  std::int64_t usable_blocks() const override { return kv_.pool().usable(); }
  std::int64_t free_blocks() const override { return kv_.pool().free(); }
  std::int64_t block_tokens() const override { return limits_.block_tokens; }
  std::int64_t evicted_blocks() const override { return kv_.pool().evictions(); }
  std::int64_t queued() const override {
    return static_cast<std::int64_t>(running_.size() + waiting_.size());
  }

  void verify() const override {
    kv_.pool().verify();
    std::int64_t held = 0;
    for (const Slot slot : running_) held += kv_.held(requests_[slot]);
    std::int64_t references = 0;
    for (kv::BlockId block = 1; block <= kv_.pool().usable(); ++block)
      references += kv_.pool().references(block);
    KVSIM_CHECK(held == references, "tables hold {} blocks, the pool counts {} references", held,
                references);
  }

 private:
  // The result of a scheduled item: rejected drafts are not computed tokens, new drafts are
  // proposed, and a token that came late gets its block hashed.
  void settle(const StepPlan::Scheduled& item) {
    RequestState& r = requests_[item.slot];
    if (item.epoch != r.epoch) return;
    if (limits_.async_scheduling) r.unsettled = std::max(0, r.unsettled - item.tokens);
    if (!item.samples) return;
    if (limits_.async_scheduling) --r.in_flight;
    if (!kv_.holds(r)) return;  // preempted in the meantime
    r.computed -= item.drafts + 1 - item.emitted;
    r.drafts = drafts_;
    if (limits_.async_scheduling) kv_.publish(r, r.computed - r.in_flight);
  }

  std::int64_t limit_chunk(std::int64_t n) const {
    if (limits_.long_prefill_token_threshold > 0)
      n = std::min(n, limits_.long_prefill_token_threshold);
    return n;
  }

  std::int64_t room() const { return std::min(budget_, input_budget_ - draft_slots_); }
  void spend(std::int64_t n) {
    budget_ -= n;
    input_budget_ -= n + draft_slots_;
  }

  void schedule_running(StepPlan& plan) {
    cursor_ = 0;
    while (true) {
      if (plain_) schedule_quiet(plan);
      if (cursor_ >= running_.size() || budget_ <= 0) break;
      const Slot slot = running_[cursor_];
      RequestState& r = requests_[slot];
      const std::int32_t known = r.tokens + r.in_flight;
      std::int64_t n = std::min(limit_chunk(known + r.drafts - r.computed), room());
      n = std::min(n, limits_.max_model_len - 1 - r.computed);
      n = kv_.chunk(r, r.computed, n);
      if (n <= 0 || (r.in_flight > 0 && known >= r.prompt_tokens + r.spec.max_tokens)) {
        ++cursor_;
        continue;
      }
      if (r.computed + n + lookahead_ > r.slot_tokens && !make_room(slot, n, plan)) break;
      schedule_tokens(plan, slot, n);
      ++cursor_;
    }
  }

  // The decodes from the cursor on that ask nothing of the KV cache, as nearly all do.
  void schedule_quiet(StepPlan& plan) {
    const std::size_t end = std::min(
        running_.size(), cursor_ + static_cast<std::size_t>(std::max<std::int64_t>(budget_, 0)));
    const std::size_t begin = cursor_, first = plan.scheduled.size();
    std::size_t at = begin;
    for (; at < end; ++at) {
      const RequestState& r = requests_[running_[at]];
      if (r.computed + 1 != r.tokens || r.tokens >= r.quiet_until) break;
    }
    // Filled in place: an item that is made elsewhere and copied costs more than all the rest.
    plan.scheduled.resize(first + at - begin);
    StepPlan::Scheduled* item = plan.scheduled.data() + first;
    for (std::size_t i = begin; i < at; ++i, ++item) {
      item->slot = running_[i];
      item->tokens = 1;
      item->computed = requests_[running_[i]].computed++;
      item->samples = true;
    }
    cursor_ = at;
    budget_ -= static_cast<std::int64_t>(at - begin);
    input_budget_ -= static_cast<std::int64_t>(at - begin);
  }

  // Computes n more tokens of a request that has slots for them.
  void schedule_tokens(StepPlan& plan, Slot slot, std::int64_t n) {
    RequestState& r = requests_[slot];
    const std::int32_t before = r.computed, known = r.tokens + r.in_flight;
    r.computed += static_cast<std::int32_t>(n);
    const std::int32_t drafts = std::max(0, r.computed - known);
    const bool samples = r.computed >= known;
    plan.scheduled.push_back({slot, static_cast<std::int32_t>(n), before, drafts, samples});
    r.drafts = 0;
    drafted_ |= drafts > 0;
    if (limits_.async_scheduling) {
      r.in_flight += samples ? 1 : 0;
      r.unsettled += static_cast<std::int32_t>(n);
    }
    kv_.publish(r, std::min(r.computed, r.tokens));
    if (plain_) r.quiet_until = static_cast<std::int32_t>(kv_.quiet_until(r));
    spend(n);
  }

  // Gets blocks for n more tokens, preempting as long as there are none. False: the request itself
  // was preempted.
  bool make_room(Slot slot, std::int64_t n, StepPlan& plan) {
    RequestState& r = requests_[slot];
    while (!kv_.extend(r, n)) {
      const std::size_t at = limits_.priority_policy ? least_urgent() : running_.size() - 1;
      const Slot victim = running_[at];
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
      take_back(victim, at, plan);
      preempt(victim, plan);
      if (victim == slot) return false;
    }
    r.slot_tokens = static_cast<std::int32_t>(kv_.slot_tokens(r));
    return true;
  }

  // A victim that already got tokens in this step loses them; the budget and the cursor follow.
  void take_back(Slot victim, std::size_t at, StepPlan& plan) {
    if (at >= cursor_) return;
    --cursor_;
    const auto item = std::ranges::find(plan.scheduled, victim, &StepPlan::Scheduled::slot);
    if (item == plan.scheduled.end()) return;
    budget_ += item->tokens;
    input_budget_ += item->tokens + draft_slots_;
    requests_[victim].computed -= item->tokens;
    if (limits_.async_scheduling) {
      requests_[victim].in_flight -= item->samples ? 1 : 0;
      requests_[victim].unsettled -= item->tokens;
    }
    plan.scheduled.erase(item);
  }

  void preempt(Slot victim, StepPlan& plan) {
    RequestState& r = requests_[victim];
    plan.preempted.push_back({victim, r.computed});
    kv_.free(r);
    r.computed = r.unsettled = 0;
    r.slot_tokens = r.quiet_until = 0;
    r.drafts = 0;
    ++r.preemptions;
    waiting_.push_front(victim);
  }

  void admit_waiting(StepPlan& plan) {
    adapters_.begin_pass();
    while (!waiting_.empty()) {
      plan.refusal = room() <= 0 ? Refusal::token_budget
                     : static_cast<std::int64_t>(running_.size()) >= limits_.max_num_seqs
                         ? Refusal::max_num_seqs
                         : Refusal::none;
      if (plan.refusal != Refusal::none) break;
      const Slot slot = waiting_.front();
      RequestState& r = requests_[slot];
      // A request preempted while its token is on its way is skipped until that has arrived.
      if (r.in_flight > 0 || !adapters_.admits(r.spec, plan, requests_)) {
        waiting_.skip();
        continue;
      }
      prepare_chain(r);
      const std::int64_t hit = kv_.lookup(r);
      std::int64_t n = limit_chunk(r.tokens - hit);
      if (!limits_.enable_chunked_prefill && n > room()) {
        plan.refusal = Refusal::token_budget;
        break;
      }
      n = kv_.chunk(r, hit, std::min(n, room()));
      if (n == 0) {
        plan.refusal = Refusal::token_budget;
        break;
      }
      // Beside decodes that verify drafts a single token is padded to their length: the step stays
      // one of equal queries.
      if (drafted_ && r.tokens - hit == 1 && 1 + drafts_ <= room()) n = 1 + drafts_;
      const auto gate = limits_.reserve_full_input ? kv::BlockManager::FullInput::must_fit
                                                   : kv::BlockManager::FullInput::may_wait;
      const auto others = running_.empty() ? kv::BlockManager::Others::none_running
                                           : kv::BlockManager::Others::some_running;
      if (!kv_.admit(r, hit, n, gate, others)) {
        plan.refusal = Refusal::kv_blocks;
        break;
      }
      waiting_.pop();
      running_.push_back(slot);
      r.computed = static_cast<std::int32_t>(hit);
      r.slot_tokens = static_cast<std::int32_t>(kv_.slot_tokens(r));
      schedule_tokens(plan, slot, n);
      adapters_.add(r.spec);
      plan.admitted.push_back({slot, hit, r.tokens, r.preemptions > 0});
    }
    waiting_.end_pass();
  }

  // Waiting requests carry no chain: it is made when one first stands at the head of the queue.
  void prepare_chain(RequestState& r) {
    if (r.chain.tokens() == 0) {
      r.chain.reset(r.spec.prefix_key(), workload::output_content(r.spec.id), kv_.hash_tokens());
      for (const workload::Span& span : r.spec.prompt)
        r.chain.append({span.content, span.offset, span.length});
      // A decode step must not allocate: room for all that the request can become.
      r.chain.reserve(r.stop_at);
      kv_.reserve(r);
    }
    r.chain.grow_to(r.tokens);
  }

  std::size_t least_urgent() const {
    std::size_t worst = 0;
    for (std::size_t i = 1; i < running_.size(); ++i)
      if (waiting_.more_urgent(running_[worst], running_[i])) worst = i;
    return worst;
  }

  SchedulerLimits limits_;
  RequestTable& requests_;
  std::optional<SpeculativeOptions> speculative_;
  std::int32_t drafts_;       // proposed after every token
  std::int64_t draft_slots_;  // input slots that a scheduled request costs beyond its tokens
  std::int64_t lookahead_;
  bool plain_;  // a decode computes one known token: neither drafts nor tokens on their way
  Kv kv_;
  std::vector<Slot> running_;  // in order of admission
  WaitingRequests waiting_;
  StepAdapters adapters_;
  std::int64_t budget_ = 0;        // tokens that the step may still schedule
  std::int64_t input_budget_ = 0;  // input slots left
  std::size_t cursor_ = 0;
  bool drafted_ = false;  // the step verifies drafts
};

}  // namespace kvsim::engine
