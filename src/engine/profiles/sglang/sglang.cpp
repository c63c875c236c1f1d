#include "engine/profiles/sglang/sglang.h"

#include "engine/profiles/sglang/scheduler.h"

namespace kvsim::engine {

std::unique_ptr<Profile> make_sglang(const SchedulerLimits& limits, RequestTable& requests) {
  return std::make_unique<sglang::Scheduler>(limits, requests);
}

}  // namespace kvsim::engine
