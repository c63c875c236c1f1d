#include "engine/profiles/vllm_v1.h"

#include "engine/profiles/vllm_v1/grouped_kv.h"
#include "engine/profiles/vllm_v1/one_group_kv.h"
#include "engine/profiles/vllm_v1/scheduler.h"

namespace kvsim::engine {

std::unique_ptr<Profile> make_vllm_v1(const SchedulerLimits& limits, RequestTable& requests) {
  if (has_groups(limits)) return std::make_unique<VllmV1<GroupedKv>>(limits, requests);
  return std::make_unique<VllmV1<OneGroupKv>>(limits, requests);
}

std::unique_ptr<Profile> make_vllm_v1_2025(const SchedulerLimits& limits, RequestTable& requests) {
  SchedulerLimits of_2025 = limits;
  of_2025.reserve_full_input = false;
  of_2025.freed_blocks = kv::FreedBlocks::all_last;
  of_2025.one_waiting_queue = true;
  return make_vllm_v1(of_2025, requests);
}

}  // namespace kvsim::engine
