#include "scenario/sglang.h"

#include <fmt/format.h>

namespace kvsim::scenario {
namespace {

using engine::SchedulePolicy;

void check_together(const engine::SglangOptions& o, const FieldError& error) {
  const std::string_view policy =
      engine::schedule_policy_names[static_cast<std::size_t>(o.schedule_policy)];
  if (o.enable_priority_scheduling && o.schedule_policy != SchedulePolicy::fcfs &&
      o.schedule_policy != SchedulePolicy::lof)
    error("schedule_policy", "field-without-use",
          fmt::format("priority scheduling goes with fcfs and lof, not with {}", policy),
          "choose one of them, or set enable_priority_scheduling to false");
  if (o.enable_hierarchical_cache && o.disable_radix_cache)
    error("enable_hierarchical_cache", "field-without-use",
          "a host pool stands behind the radix tree, and that is disabled",
          "set disable_radix_cache to false, or enable_hierarchical_cache to false");
}

// Settings that only matter beside another one that is off.
void note_unused(const engine::SglangOptions& o, std::vector<std::string>& warnings) {
  const engine::SglangOptions unset;
  if (!o.enable_hierarchical_cache && (o.host_tokens || o.hicache_ratio != unset.hicache_ratio ||
                                       o.hicache_write_policy != unset.hicache_write_policy))
    warnings.push_back(
        "without enable_hierarchical_cache host_tokens, hicache_ratio and hicache_write_policy "
        "have "
        "no effect");
  if (!o.enable_priority_scheduling &&
      (o.schedule_low_priority_values_first || o.disable_priority_preemption ||
       o.priority_scheduling_preemption_threshold !=
           unset.priority_scheduling_preemption_threshold))
    warnings.push_back(
        "without enable_priority_scheduling the order of priorities and their preemption have no "
        "effect");
  if (o.enable_hierarchical_cache && o.host_tokens && o.hicache_ratio != unset.hicache_ratio)
    warnings.push_back("host_tokens is given: hicache_ratio has no effect");
}

}  // namespace

void settle_sglang(engine::EngineConfig& c, std::vector<std::string>& warnings,
                   const FieldError& error) {
  engine::SglangOptions& o = c.sglang;
  if (!c.enable_prefix_caching) o.disable_radix_cache = true;
  c.enable_prefix_caching = !o.disable_radix_cache;
  if (!c.enable_chunked_prefill && o.chunked_prefill_size.value_or(-1) > 0)
    error("chunked_prefill_size", "field-without-use",
          fmt::format("chunks of {} tokens are given and chunked prefill is off",
                      *o.chunked_prefill_size),
          "leave out one of the two");
  if (!c.enable_chunked_prefill) o.chunked_prefill_size = -1;
  if (o.chunked_prefill_size == 0)
    error("chunked_prefill_size", "out-of-range",
          "chunked_prefill_size must be -1 (off) or at least one page", "set it to -1");
  if (o.chunked_prefill_size == -1) c.enable_chunked_prefill = false;
  check_together(o, error);
  const bool by_cache =
      o.schedule_policy == SchedulePolicy::lpm || o.schedule_policy == SchedulePolicy::dfs_weight;
  if (by_cache && o.disable_radix_cache)
    warnings.push_back(
        fmt::format("without the radix cache schedule_policy {} is fcfs",
                    engine::schedule_policy_names[static_cast<std::size_t>(o.schedule_policy)]));
  if (o.enable_mixed_chunk && !c.enable_chunked_prefill)
    warnings.push_back("without chunked prefill enable_mixed_chunk has no effect");
  note_unused(o, warnings);
  if (c.max_num_batched_tokens && o.chunked_prefill_size.value_or(-1) > 0 &&
      *c.max_num_batched_tokens != *o.chunked_prefill_size)
    error("max_num_batched_tokens", "two-names",
          fmt::format("max_num_batched_tokens {} and chunked_prefill_size {} both bound a prefill "
                      "step",
                      *c.max_num_batched_tokens, *o.chunked_prefill_size),
          "keep chunked_prefill_size");
  if (o.max_total_tokens && c.num_gpu_blocks_override)
    error("num_gpu_blocks_override", "two-names",
          "max_total_tokens and num_gpu_blocks_override both give the pool", "keep one of them");
  const std::int64_t page = c.block_size.value_or(1);
  if (o.chunked_prefill_size && *o.chunked_prefill_size > 0 && *o.chunked_prefill_size < page)
    error("chunked_prefill_size", "out-of-range",
          fmt::format("a chunk of {} tokens holds no page of {}: no prompt could start",
                      *o.chunked_prefill_size, page),
          "set it to a multiple of page_size, or to -1");
  if (o.enable_hierarchical_cache && o.host_tokens && *o.host_tokens < page)
    error("host_tokens", "out-of-range",
          fmt::format("a host pool of {} tokens holds no page of {}", *o.host_tokens, page), "");
  if (o.chunked_prefill_size && *o.chunked_prefill_size > 0 && *o.chunked_prefill_size % page != 0)
    warnings.push_back(fmt::format(
        "chunked_prefill_size {} is no multiple of page_size {}: SGLang would not start",
        *o.chunked_prefill_size, page));
}

}  // namespace kvsim::scenario
