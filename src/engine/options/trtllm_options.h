#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "config/fields.h"

// What only TensorRT-LLM has among the fields of an engine.
namespace kvsim::engine {

enum class CapacitySchedulerPolicy { guaranteed_no_evict, max_utilization, static_batch };
inline constexpr std::array<std::string_view, 3> capacity_scheduler_policy_names{
    "GUARANTEED_NO_EVICT", "MAX_UTILIZATION", "STATIC_BATCH"};

enum class ContextChunkingPolicy { first_come_first_served, equal_progress };
inline constexpr std::array<std::string_view, 2> context_chunking_policy_names{
    "FIRST_COME_FIRST_SERVED", "EQUAL_PROGRESS"};

struct TrtllmOptions {
  CapacitySchedulerPolicy capacity_scheduler_policy = CapacitySchedulerPolicy::guaranteed_no_evict;
  ContextChunkingPolicy context_chunking_policy = ContextChunkingPolicy::first_come_first_served;
};

void fields(config::FieldVisitor& v, TrtllmOptions& o);

}  // namespace kvsim::engine
