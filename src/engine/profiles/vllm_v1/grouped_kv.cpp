#include "engine/profiles/vllm_v1/grouped_kv.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace kvsim::engine {
namespace {

kv::GroupKind kind(KvGroupKind k) {
  switch (k) {
    case KvGroupKind::full:
      return kv::GroupKind::full;
    case KvGroupKind::sliding_window:
      return kv::GroupKind::sliding_window;
    case KvGroupKind::chunked_local:
      return kv::GroupKind::chunked_local;
    case KvGroupKind::mamba:
      return kv::GroupKind::mamba;
  }
  return kv::GroupKind::full;
}

kv::StateMode state_mode(const SchedulerLimits& limits) {
  // Without prefix caching no state is kept for later.
  if (!limits.enable_prefix_caching) return kv::StateMode::none;
  switch (limits.vllm.mamba_cache_mode.value_or(MambaCacheMode::align)) {
    case MambaCacheMode::none:
      return kv::StateMode::none;
    case MambaCacheMode::align:
      return kv::StateMode::align;
    case MambaCacheMode::all:
      return kv::StateMode::all;
  }
  return kv::StateMode::none;
}

// Most tokens of one request in a step that takes `slots` of the budget for drafts.
std::int64_t largest_chunk(const SchedulerLimits& limits, std::int64_t slots) {
  const std::int64_t budget = limits.max_num_batched_tokens - slots;
  return limits.long_prefill_token_threshold > 0
             ? std::min(limits.long_prefill_token_threshold, budget)
             : budget;
}

}  // namespace

bool has_groups(const SchedulerLimits& limits) {
  const auto& groups = limits.vllm.kv_groups;
  if (groups.empty()) return !limits.model_groups.empty();
  return groups.size() > 1 || groups.front().kind != KvGroupKind::full;
}

kv::GroupManager::Options group_options(const SchedulerLimits& limits) {
  const auto& speculative = limits.vllm.speculative;
  kv::GroupManager::Options o;
  o.blocks = {limits.num_blocks,
              limits.block_tokens,
              limits.enable_prefix_caching,
              limits.watermark,
              limits.max_model_len,
              speculative ? speculative->lookahead_tokens() : 0,
              speculative && speculative->drops_last_block(),
              limits.freed_blocks};
  o.retention_interval = limits.vllm.prefix_cache_retention_interval;
  o.state_mode = state_mode(limits);
  o.match_unit = limits.vllm.prefix_match_unit.value_or(0);
  o.speculative_tokens = speculative ? speculative->num_speculative_tokens : 0;
  o.largest_chunk = largest_chunk(limits, 0);
  o.in_flight_tokens = limits.max_num_batched_tokens * (limits.async_scheduling ? 2 : 1);
  const std::int64_t state_tokens = limits.vllm.mamba_block_size.value_or(
      o.state_mode == kv::StateMode::none ? limits.max_model_len : limits.block_tokens);
  if (limits.vllm.kv_groups.empty()) {
    o.groups = limits.model_groups;
    for (kv::GroupSpec& spec : o.groups)
      if (spec.kind == kv::GroupKind::mamba) spec.block_tokens = state_tokens;
  }
  for (const KvGroupOptions& group : limits.vllm.kv_groups)
    o.groups.push_back({kind(group.kind),
                        group.kind == KvGroupKind::mamba ? state_tokens : limits.block_tokens,
                        group.window, group.attention_chunk_size});
  return o;
}

GroupedKv::GroupedKv(const SchedulerLimits& limits)
    : largest_chunk_(largest_chunk(
          limits, limits.vllm.speculative ? limits.vllm.speculative->extra_input_slots() : 0)),
      gate_(limits.reserve_full_input),
      groups_(group_options(limits)) {
  const kv::GroupManager::Options o = group_options(limits);
  const bool states = std::ranges::any_of(
      o.groups, [](const kv::GroupSpec& spec) { return spec.kind == kv::GroupKind::mamba; });
  const std::int64_t block = o.blocks.block_tokens;
  if (states && o.state_mode == kv::StateMode::align && block > largest_chunk_ &&
      block <= o.largest_chunk)
    unfillable_block_ = block;
}

void GroupedKv::reserve(RequestState& r) const {
  r.groups.groups.resize(groups_.groups());
  for (kv::GroupTable::Group& group : r.groups.groups)
    group.blocks.reserve(
        static_cast<std::size_t>(kv::ceil_blocks(r.stop_at, groups_.block_tokens()) + 1));
}

std::int64_t GroupedKv::slot_tokens(const RequestState& r) const {
  return std::min<std::int64_t>(groups_.quiet_until(r.groups),
                                std::numeric_limits<std::int32_t>::max() - 1);
}

std::optional<std::string> GroupedKv::why_too_large(std::int64_t prompt, std::int64_t most) const {
  // A block that fits the budget but not what the drafter leaves of it: vLLM waits for it for ever.
  if (unfillable_block_ > 0 && prompt > largest_chunk_)
    return fmt::format(
        "no step has room for a block of {} tokens of recurrent state beside the draft slots",
        unfillable_block_);
  const std::int64_t need =
      std::max(gate_ ? groups_.blocks_at_gate(prompt) : 0, most_alone(prompt, most));
  if (need <= pool().usable()) return std::nullopt;
  return fmt::format("it needs {} KV blocks in {} groups and the pool has {}", need,
                     groups_.groups(), pool().usable());
}

// Blocks that a request holds at most while it runs alone: its chunks and decodes, step by step.
std::int64_t GroupedKv::most_alone(std::int64_t prompt, std::int64_t most) const {
  std::int64_t need = 0;
  for (std::int64_t computed = 0, n = 0; computed < most; computed += n) {
    const std::int64_t known = std::max(prompt, computed + 1);
    n = groups_.cut_chunk({computed, std::min(known - computed, largest_chunk_), known, prompt, 0});
    if (n <= 0) break;
    need = std::max(need, groups_.blocks_alone(computed, computed + n, prompt));
    // Of the decodes those matter that need one more block, and the last.
    if (computed >= prompt) {
      const std::int64_t block = groups_.block_tokens();
      n = std::min(block - computed % block, std::max<std::int64_t>(most - 1 - computed, 1));
    }
  }
  return need;
}

}  // namespace kvsim::engine
