#include "engine/profiles/trtllm/trtllm.h"

#include <fmt/core.h>

#include <algorithm>
#include <deque>

#include "diag/check.h"
#include "engine/profiles/trtllm/capacity.h"
#include "engine/profiles/trtllm/micro_batch.h"
#include "kv/reuse/reuse_pool.h"

namespace kvsim::engine {
namespace {

kv::RetentionPriorities retention(const TrtllmOptions& o) {
  kv::RetentionPriorities r;
  for (const TokenRangeRetention& range : o.token_range_retention)
    r.ranges.push_back(
        {range.token_start, range.token_end.value_or(-1), static_cast<int>(range.priority)});
  r.decode_priority = static_cast<int>(o.decode_retention_priority);
  return r;
}

kv::ReusePool::Options pool_options(const SchedulerLimits& l) {
  kv::ReusePool::Options o;
  o.num_blocks = l.num_blocks;
  o.host_blocks = l.host_blocks;
  o.block_tokens = l.block_tokens;
  o.reuse = l.enable_prefix_caching;
  o.partial_reuse = l.trtllm.enable_partial_reuse;
  o.copy_on_partial_reuse = l.trtllm.copy_on_partial_reuse;
  o.secondary_offload_min_priority = static_cast<int>(l.trtllm.secondary_offload_min_priority);
  o.retention = retention(l.trtllm);
  return o;
}

class Trtllm final : public Profile {
 public:
  Trtllm(const SchedulerLimits& limits, RequestTable& requests)
      : limits_(limits),
        requests_(requests),
        pool_(pool_options(limits)),
        capacity_(limits.trtllm.capacity_scheduler_policy, limits.max_num_seqs),
        batch_limits_({limits.max_num_seqs, limits.max_num_batched_tokens,
                       limits.enable_chunked_prefill, limits.trtllm.context_chunking_policy,
                       limits.block_tokens}) {}

  std::optional<std::string> why_unservable(const workload::RequestSpec& spec) const override {
    if (spec.prompt_tokens + 1 > limits_.max_model_len)
      return fmt::format(
          "its prompt of {} tokens leaves no room for an output token within max_model_len {}",
          spec.prompt_tokens, limits_.max_model_len);
    const bool utilization =
        limits_.trtllm.capacity_scheduler_policy == CapacitySchedulerPolicy::max_utilization;
    const std::int64_t output =
        utilization ? std::min(spec.output_tokens, spec.max_tokens) - 1 : spec.max_tokens;
    const std::int64_t blocks =
        pool_.blocks_for(std::min(spec.prompt_tokens + output, limits_.max_model_len));
    if (blocks > pool_.usable())
      return fmt::format("it needs {} KV blocks of {} tokens and the pool has {}", blocks,
                         limits_.block_tokens, pool_.usable());
    if (!limits_.enable_chunked_prefill && spec.prompt_tokens > limits_.max_num_batched_tokens)
      return fmt::format(
          "its prompt of {} tokens exceeds max_num_batched_tokens {} and chunked prefill is off",
          spec.prompt_tokens, limits_.max_num_batched_tokens);
    if (limits_.max_num_batched_tokens < std::min(spec.prompt_tokens, limits_.block_tokens))
      return fmt::format("a step of {} tokens holds no chunk of a block, {} tokens",
                         limits_.max_num_batched_tokens, limits_.block_tokens);
    return std::nullopt;
  }

  void submit(Slot slot) override {
    active_.push_back(slot);
    if (static_cast<std::size_t>(slot) >= extra_.size())
      extra_.resize(static_cast<std::size_t>(slot) + 1);
    extra(slot) = Extra{kv::RadixKey(requests_[slot].spec.prefix_key()), false, 0};
  }
  bool has_work() const override { return !active_.empty(); }

  void schedule(StepPlan& plan) override {
    // An iteration that only pauses runs no model and takes no time; the next one follows.
    for (std::size_t paused = plan.preempted.size(); plan.scheduled.empty();
         paused = plan.preempted.size()) {
      if (generate_all(plan)) break;
      View view{*this, plan};
      const CapacityChoice& choice = capacity_.choose(view);
      plan.refusal = choice.refusal;
      run(plan, choice);
      if (plan.preempted.size() == paused) break;
    }
    plan.running = started_;
    plan.waiting = static_cast<std::int64_t>(active_.size()) - started_;
    plan.free_blocks = pool_.free();
    if (limits_.host_blocks > 0) plan.host_used = pool_.host_used() * limits_.block_tokens;
  }

  void complete(const StepPlan& plan) override {
    // Finished contexts enter the tree before any request that ends gives its blocks back.
    for (const Slot slot : contexts_) {
      RequestState& r = requests_[slot];
      pool_.store(r.table, key(slot), r.computed, kv::ReusePool::Tail::full_blocks);
    }
    contexts_.clear();
    for (const Slot slot : plan.finished) {
      release(slot);
      const auto place = std::ranges::find(active_, slot);
      KVSIM_CHECK(place != active_.end(), "request slot {} ends but is not active", slot);
      active_.erase(place);
    }
  }

  std::int64_t usable_blocks() const override { return pool_.usable(); }
  std::int64_t free_blocks() const override { return pool_.free(); }
  std::int64_t block_tokens() const override { return limits_.block_tokens; }
  std::int64_t evicted_blocks() const override { return pool_.evictions(); }
  std::int64_t queued() const override { return static_cast<std::int64_t>(active_.size()); }

  void verify() const override {
    pool_.verify();
    std::int64_t held = 0, references = 0, started = 0, promised = 0;
    for (const Slot slot : active_) {
      const RequestState& r = requests_[slot];
      const auto blocks = static_cast<std::int64_t>(r.table.blocks.size());
      started += blocks > 0;
      held += blocks;
      if (blocks > 0) promised += to_completion(slot);
      KVSIM_CHECK(blocks == 0 || blocks >= pool_.blocks_for(r.computed),
                  "request slot {} has {} tokens in {} blocks", slot, r.computed, blocks);
    }
    for (kv::BlockId b = 0; b < pool_.usable() + limits_.host_blocks; ++b)
      references += pool_.references(b);
    KVSIM_CHECK(held == references, "tables hold {} blocks, the pool counts {} references", held,
                references);
    KVSIM_CHECK(started == started_, "{} requests hold blocks, {} counted", started, started_);
    KVSIM_CHECK(
        limits_.trtllm.capacity_scheduler_policy == CapacitySchedulerPolicy::max_utilization ||
            promised <= pool_.free(),
        "{} blocks are promised and {} free", promised, pool_.free());
  }

 private:
  struct Extra {
    kv::RadixKey tokens;  // what it knows, as far as a lookup or a store needed it
    bool in_context = false;
    std::int64_t context_end = 0;  // tokens that its context computes
  };
  // What the capacity scheduler sees.
  struct View {
    Trtllm& p;
    StepPlan& plan;
    std::size_t size() const { return p.active_.size(); }
    bool started(std::size_t i) const { return p.is_started(p.active_[i]); }
    std::int64_t started_count() const { return p.started_; }
    std::int64_t to_completion(std::size_t i) const { return p.to_completion(p.active_[i]); }
    std::int64_t next_step(std::size_t i) const { return p.next_step(p.active_[i]); }
    std::int64_t free() const { return p.pool_.free(); }
    void pause(std::size_t i) { p.pause(p.active_[i], plan); }
    std::optional<kv::BlockHash> missing(std::size_t i) { return p.missing(p.active_[i]); }
  };

  Extra& extra(Slot slot) { return extra_[static_cast<std::size_t>(slot)]; }
  const Extra& extra(Slot slot) const { return extra_[static_cast<std::size_t>(slot)]; }
  bool is_started(Slot slot) const { return !requests_[slot].table.blocks.empty(); }

  std::int64_t to_completion(Slot slot) const {
    const RequestState& r = requests_[slot];
    const std::int64_t most =
        std::min<std::int64_t>(r.prompt_tokens + r.spec.max_tokens, limits_.max_model_len);
    return pool_.blocks_for(most) - static_cast<std::int64_t>(r.table.blocks.size());
  }
  std::int64_t next_step(Slot slot) const {
    const RequestState& r = requests_[slot];
    if (!is_started(slot)) return pool_.blocks_for(r.tokens);
    if (extra(slot).in_context) return 0;  // has blocks for its whole prompt
    return pool_.blocks_for(r.computed + 1) - static_cast<std::int64_t>(r.table.blocks.size());
  }

  std::optional<kv::BlockHash> missing(Slot slot) {
    if (!limits_.enable_prefix_caching) return std::nullopt;
    if (is_started(slot) && !extra(slot).in_context) return std::nullopt;
    return pool_.first_missing(key(slot));
  }

  // All that the request knows, for lookups and stores; decode steps do not come here.
  kv::ReuseKey key(Slot slot) {
    RequestState& r = requests_[slot];
    Extra& e = extra(slot);
    const std::uint64_t output = workload::output_content(r.spec.id);
    if (e.tokens.tokens() == 0) {
      r.chain.reset(r.spec.prefix_key(), output, limits_.block_tokens);
      for (const workload::Span& span : r.spec.prompt) {
        r.chain.append({span.content, span.offset, span.length});
        e.tokens.append({span.content, span.offset, span.length});
      }
    }
    r.chain.grow_to(r.tokens);
    if (const std::int64_t known = e.tokens.tokens(); known < r.tokens)
      e.tokens.append({output, known - r.prompt_tokens, r.tokens - known});
    return {e.tokens.view(), &r.chain};
  }

  // The usual iteration: everybody generates, and blocks, places and tokens suffice for all. Both
  // schedulers then take all requests as they stand; nothing has to be asked of them.
  bool generate_all(StepPlan& plan) {
    const auto all = static_cast<std::int64_t>(active_.size());
    if (started_ != all || contexts_in_progress_ > 0 || all > limits_.max_num_seqs ||
        all > limits_.max_num_batched_tokens)
      return false;
    std::int64_t blocks = 0;
    for (const Slot slot : active_) {
      const RequestState& r = requests_[slot];
      blocks += r.computed == r.slot_tokens;
    }
    if (blocks > pool_.free()) return false;
    plan.scheduled.resize(active_.size());
    StepPlan::Scheduled* item = plan.scheduled.data();
    for (const Slot slot : active_) {
      RequestState& r = requests_[slot];
      if (r.computed == r.slot_tokens) extend(r);
      item->slot = slot;
      item->tokens = 1;
      item->computed = r.computed++;
      item->samples = true;
      ++item;
    }
    return true;
  }

  void run(StepPlan& plan, const CapacityChoice& choice) {
    batch_.clear();
    for (const std::size_t i : choice.chosen) {
      const RequestState& r = requests_[active_[i]];
      const bool context = !is_started(active_[i]) || extra(active_[i]).in_context;
      batch_.push_back({context, context ? r.tokens - r.computed : 1, 0});
    }
    const MicroBatchEnd end = fill_micro_batch(batch_, batch_limits_);
    // Contexts first, as the model's input has them.
    for (const bool context : {true, false})
      for (std::size_t k = 0; k < batch_.size(); ++k)
        if (batch_[k].tokens > 0 && batch_[k].context == context)
          schedule_tokens(plan, active_[choice.chosen[k]], batch_[k].tokens);
    if (end != MicroBatchEnd::all_fit && plan.refusal == Refusal::none)
      plan.refusal =
          end == MicroBatchEnd::max_num_tokens ? Refusal::token_budget : Refusal::max_num_seqs;
  }

  void schedule_tokens(StepPlan& plan, Slot slot, std::int64_t tokens) {
    RequestState& r = requests_[slot];
    Extra& e = extra(slot);
    if (!is_started(slot))
      tokens = start(plan, slot, tokens);
    else if (!e.in_context && r.computed == r.slot_tokens)
      extend(r);
    plan.scheduled.push_back(
        {slot, static_cast<std::int32_t>(tokens), r.computed, 0, r.computed + tokens >= r.tokens});
    r.computed += static_cast<std::int32_t>(tokens);
    if (e.in_context && r.computed >= e.context_end) {
      e.in_context = false;
      --contexts_in_progress_;
      contexts_.push_back(slot);
    }
  }

  void extend(RequestState& r) {
    pool_.extend(r.table, r.prompt_tokens);
    r.slot_tokens = static_cast<std::int32_t>(static_cast<std::int64_t>(r.table.blocks.size()) *
                                              limits_.block_tokens);
  }

  // Gives a request its blocks; answers the tokens of its first chunk of `chunk`.
  std::int64_t start(StepPlan& plan, Slot slot, std::int64_t chunk) {
    RequestState& r = requests_[slot];
    const kv::ReuseKey tokens = key(slot);
    r.table.blocks.reserve(static_cast<std::size_t>(pool_.blocks_for(r.stop_at)));
    const kv::ReusePool::Admission found = pool_.admit(r.table, tokens);
    r.computed = static_cast<std::int32_t>(found.hit);
    r.slot_tokens = static_cast<std::int32_t>(static_cast<std::int64_t>(r.table.blocks.size()) *
                                              limits_.block_tokens);
    extra(slot).in_context = true;
    ++contexts_in_progress_;
    extra(slot).context_end = r.tokens;
    ++started_;
    plan.admitted.push_back({slot, found.hit, r.tokens, r.preemptions > 0});
    if (found.loaded > 0) plan.loaded.push_back({slot, found.loaded});
    const std::int64_t end = found.hit + chunk;
    if (end >= r.tokens) return r.tokens - found.hit;
    return end / limits_.block_tokens * limits_.block_tokens - found.hit;
  }

  void release(Slot slot) {
    RequestState& r = requests_[slot];
    pool_.store(r.table, key(slot), r.computed, kv::ReusePool::Tail::with_partial);
    pool_.release(r.table);
    --started_;
  }

  void pause(Slot slot, StepPlan& plan) {
    RequestState& r = requests_[slot];
    plan.preempted.push_back({slot, r.computed});
    release(slot);
    r.computed = 0;
    r.slot_tokens = 0;
    ++r.preemptions;
    contexts_in_progress_ -= extra(slot).in_context;
    extra(slot).in_context = false;
  }

  SchedulerLimits limits_;
  RequestTable& requests_;
  kv::ReusePool pool_;
  CapacityScheduler<View> capacity_;
  MicroBatchLimits batch_limits_;
  std::deque<Slot> active_;   // in order of arrival; paused requests keep their places
  std::vector<Extra> extra_;  // by slot
  std::int64_t started_ = 0, contexts_in_progress_ = 0;
  std::vector<MicroBatchItem> batch_;
  std::vector<Slot> contexts_;  // whose context this step finishes
};

}  // namespace

std::unique_ptr<Profile> make_trtllm(const SchedulerLimits& limits, RequestTable& requests) {
  return std::make_unique<Trtllm>(limits, requests);
}

}  // namespace kvsim::engine
