#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "config/fields.h"

// What only SGLang has among the fields of an engine, under SGLang's own names (main of
// 2026-07-20).
namespace kvsim::engine {

enum class SchedulePolicy { fcfs, lpm, dfs_weight, lof, random, routing_key };
inline constexpr std::array<std::string_view, 6> schedule_policy_names{
    "fcfs", "lpm", "dfs-weight", "lof", "random", "routing-key"};

enum class RadixEvictionPolicy { lru, lfu, fifo, filo, mru, slru, priority };
inline constexpr std::array<std::string_view, 7> radix_eviction_policy_names{
    "lru", "lfu", "fifo", "filo", "mru", "slru", "priority"};

enum class RetractionPolicy { length, priority };
inline constexpr std::array<std::string_view, 2> retraction_policy_names{"length", "priority"};

enum class HicacheWritePolicy { write_through, write_through_selective, write_back };
inline constexpr std::array<std::string_view, 3> hicache_write_policy_names{
    "write_through", "write_through_selective", "write_back"};

struct SglangOptions {
  std::optional<std::int64_t> max_total_tokens;      // slots of the pool
  std::optional<std::int64_t> chunked_prefill_size;  // -1 = off; none: by GPU memory
  std::int64_t max_prefill_tokens = 16384;
  bool enable_mixed_chunk = false;
  SchedulePolicy schedule_policy = SchedulePolicy::fcfs;
  double schedule_conservativeness = 1;
  RadixEvictionPolicy radix_eviction_policy = RadixEvictionPolicy::lru;
  bool disable_radix_cache = false;
  bool enable_priority_scheduling = false;
  bool schedule_low_priority_values_first = false;
  std::int64_t priority_scheduling_preemption_threshold = 10;
  bool disable_priority_preemption = false;
  RetractionPolicy retraction_policy = RetractionPolicy::length;
  bool enable_hierarchical_cache = false;
  double hicache_ratio = 2;                 // host slots per device slot
  std::optional<std::int64_t> host_tokens;  // slots of the host pool; none: by hicache_ratio
  HicacheWritePolicy hicache_write_policy = HicacheWritePolicy::write_through;
};

void fields(config::FieldVisitor& v, SglangOptions& o);

}  // namespace kvsim::engine
