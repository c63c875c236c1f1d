#include "engine/profiles/static_batching/static_batching.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <deque>
#include <limits>

#include "diag/check.h"
#include "kv/contiguous/allocator.h"

namespace kvsim::engine {
namespace {

class StaticBatching final : public Profile {
 public:
  StaticBatching(const SchedulerLimits& limits, RequestTable& requests)
      : limits_(limits),
        requests_(requests),
        allocator_(limits.static_batching.allocator == Allocator::buddy
                       ? kv::make_buddy(limits.num_blocks)
                       : kv::make_first_fit(limits.num_blocks)) {}

  std::optional<std::string> why_unservable(const workload::RequestSpec& spec) const override {
    if (spec.prompt_tokens + 1 > limits_.max_model_len)
      return fmt::format(
          "its prompt of {} tokens leaves no room for an output token within max_model_len {}",
          spec.prompt_tokens, limits_.max_model_len);
    const std::int64_t output = std::min(std::min(spec.output_tokens, spec.max_tokens),
                                         limits_.max_model_len - spec.prompt_tokens);
    const std::int64_t tokens = reserve(spec.prompt_tokens, output);
    if (const std::int64_t most = allocator_->largest() * limits_.block_tokens; tokens > most)
      return fmt::format("it reserves {} contiguous slots and the pool has at most {}", tokens,
                         most);
    return std::nullopt;
  }

  void submit(Slot slot) override { waiting_.push_back(slot); }
  bool has_work() const override { return !running_.empty() || !waiting_.empty(); }

  void schedule(StepPlan& plan) override {
    // A batch of FasterTransformer is one input, whatever its prompts add up to.
    budget_ = limits_.static_batching.batching == Batching::request
                  ? std::numeric_limits<std::int64_t>::max()
                  : limits_.max_num_batched_tokens;
    for (const Member& member : running_) run(plan, member.slot, 1);
    if (limits_.static_batching.batching == Batching::iteration)
      admit(plan);
    else if (running_.empty())
      start_batch(plan);
    else if (!waiting_.empty())
      plan.refusal = closed_by_;
    plan.running = static_cast<std::int64_t>(running_.size());
    plan.waiting = static_cast<std::int64_t>(waiting_.size());
    plan.free_blocks = free_blocks();
    plan.kv_use = use();
  }

  void complete(const StepPlan& plan) override {
    if (plan.finished.empty()) return;
    for (const Slot slot : plan.finished) {
      const auto member = std::ranges::find(running_, slot, &Member::slot);
      KVSIM_CHECK(member != running_.end(), "request slot {} ends but does not run", slot);
      if (limits_.static_batching.batching == Batching::request)
        ended_.push_back(member->extent);
      else
        allocator_->release(member->extent);
      member->slot = no_slot;
    }
    std::erase_if(running_, [](const Member& m) { return m.slot == no_slot; });
    if (running_.empty()) release_ended();
  }

  std::int64_t usable_blocks() const override { return allocator_->slots(); }
  std::int64_t free_blocks() const override { return allocator_->slots() - allocator_->held(); }
  std::int64_t block_tokens() const override { return limits_.block_tokens; }
  std::int64_t evicted_blocks() const override { return 0; }
  std::int64_t queued() const override {
    return static_cast<std::int64_t>(running_.size() + waiting_.size());
  }

  void verify() const override {
    allocator_->verify();
    std::vector<kv::Extent> held = ended_;
    for (const Member& m : running_) {
      held.push_back(m.extent);
      KVSIM_CHECK(requests_[m.slot].computed <= m.reserved,
                  "request slot {} has {} tokens in {} reserved slots", m.slot,
                  requests_[m.slot].computed, m.reserved);
    }
    std::ranges::sort(held, {}, &kv::Extent::start);
    std::int64_t sum = 0, end = 0;
    for (const kv::Extent& extent : held) {
      KVSIM_CHECK(extent.start >= end, "two requests hold slot {}", extent.start);
      end = extent.start + extent.size;
      sum += extent.size;
    }
    KVSIM_CHECK(sum == allocator_->held(), "requests hold {} slots, the allocator counts {}", sum,
                allocator_->held());
  }

 private:
  struct Member {
    Slot slot = no_slot;
    std::int64_t reserved = 0;  // tokens
    kv::Extent extent;          // blocks
  };

  std::int64_t reserve(std::int64_t prompt, std::int64_t output) const {
    const std::int64_t tokens = reservation_tokens(limits_.static_batching.reservation, prompt,
                                                   output, limits_.max_model_len);
    return ceil_div(tokens, limits_.block_tokens) * limits_.block_tokens;
  }

  void run(StepPlan& plan, Slot slot, std::int64_t tokens) {
    RequestState& r = requests_[slot];
    plan.scheduled.push_back({slot, static_cast<std::int32_t>(tokens), r.computed, 0, true});
    r.computed += static_cast<std::int32_t>(tokens);
    budget_ -= tokens;
  }

  void start_batch(StepPlan& plan) {
    release_ended();
    admit(plan);
    closed_by_ = plan.refusal;
  }

  void admit(StepPlan& plan) {
    bool prompts = false;
    while (!waiting_.empty()) {
      const Slot slot = waiting_.front();
      RequestState& r = requests_[slot];
      if (static_cast<std::int64_t>(running_.size()) >= limits_.max_num_seqs) {
        plan.refusal = Refusal::max_num_seqs;
        return;
      }
      if (prompts && r.prompt_tokens > budget_) {
        plan.refusal = Refusal::token_budget;
        return;
      }
      const std::int64_t reserved = reserve(r.prompt_tokens, r.stop_at - r.prompt_tokens);
      const auto extent = allocator_->allocate(reserved / limits_.block_tokens);
      if (!extent) {
        plan.refusal = Refusal::kv_blocks;
        return;
      }
      waiting_.pop_front();
      running_.push_back({slot, reserved, *extent});
      plan.admitted.push_back({slot, 0, r.tokens, false});
      run(plan, slot, r.tokens);
      prompts = true;
    }
  }

  void release_ended() {
    for (const kv::Extent& extent : ended_) allocator_->release(extent);
    ended_.clear();
  }

  KvUse use() const {
    KvUse u;
    for (const Member& m : running_) {
      const RequestState& r = requests_[m.slot];
      u.states += r.computed;
      u.reserved += r.stop_at - r.computed;
      u.internal += m.reserved - r.stop_at;
      u.external += m.extent.size * limits_.block_tokens - m.reserved;
    }
    for (const kv::Extent& extent : ended_) u.internal += extent.size * limits_.block_tokens;
    return u;
  }

  SchedulerLimits limits_;
  RequestTable& requests_;
  std::unique_ptr<kv::ContiguousAllocator> allocator_;
  std::vector<Member> running_;    // in order of admission
  std::vector<kv::Extent> ended_;  // of members whose batch still runs
  std::deque<Slot> waiting_;
  Refusal closed_by_ = Refusal::none;  // what ended the admission of the running batch
  std::int64_t budget_ = 0;
};

}  // namespace

std::int64_t reservation_tokens(Reservation how, std::int64_t prompt, std::int64_t output,
                                std::int64_t max_model_len) {
  switch (how) {
    case Reservation::max:
      return max_model_len;
    case Reservation::pow2:
      return std::min(
          prompt + static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(output))),
          max_model_len);
    case Reservation::oracle:
      return prompt + output;
  }
  return max_model_len;
}

std::unique_ptr<Profile> make_static_batching(const SchedulerLimits& limits,
                                              RequestTable& requests) {
  return std::make_unique<StaticBatching>(limits, requests);
}

}  // namespace kvsim::engine
