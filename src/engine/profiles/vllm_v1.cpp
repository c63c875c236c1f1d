#include "engine/profiles/vllm_v1.h"

#include "engine/profiles/vllm_v1/grouped_kv.h"
#include "engine/profiles/vllm_v1/one_group_kv.h"
#include "engine/profiles/vllm_v1/scheduler.h"

namespace kvsim::engine {

std::unique_ptr<Profile> make_vllm_v1(const SchedulerLimits& limits, RequestTable& requests) {
  if (has_groups(limits)) return std::make_unique<VllmV1<GroupedKv>>(limits, requests);
  return std::make_unique<VllmV1<OneGroupKv>>(limits, requests);
}

}  // namespace kvsim::engine
