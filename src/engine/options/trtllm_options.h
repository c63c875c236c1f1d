#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "kv/reuse/retention_priorities.h"
#include "units/units.h"

// What only TensorRT-LLM has among the fields of an engine, by the names of its LlmArgs and
// KvCacheConfig.
namespace kvsim::engine {

enum class CapacitySchedulerPolicy { guaranteed_no_evict, max_utilization, static_batch };
inline constexpr std::array<std::string_view, 3> capacity_scheduler_policy_names{
    "GUARANTEED_NO_EVICT", "MAX_UTILIZATION", "STATIC_BATCH"};

enum class ContextChunkingPolicy { first_come_first_served, equal_progress };
inline constexpr std::array<std::string_view, 2> context_chunking_policy_names{
    "FIRST_COME_FIRST_SERVED", "EQUAL_PROGRESS"};

// Retention of the blocks of some prompt positions, of every request.
struct TokenRangeRetention {
  std::int64_t token_start = 0;
  std::optional<std::int64_t> token_end;  // exclusive; none: to the end of the prompt
  std::int64_t priority = kv::default_priority;
};

struct TrtllmOptions {
  CapacitySchedulerPolicy capacity_scheduler_policy = CapacitySchedulerPolicy::guaranteed_no_evict;
  ContextChunkingPolicy context_chunking_policy = ContextChunkingPolicy::first_come_first_served;
  bool enable_partial_reuse = true;
  bool copy_on_partial_reuse = true;
  Bytes host_cache_size{};  // per GPU
  std::int64_t secondary_offload_min_priority = 30;
  std::vector<TokenRangeRetention> token_range_retention;
  std::int64_t decode_retention_priority = kv::default_priority;
};

void fields(config::FieldVisitor& v, TokenRangeRetention& r);
void fields(config::FieldVisitor& v, TrtllmOptions& o);

}  // namespace kvsim::engine
