#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/profile.h"

namespace kvsim::engine {

// The LoRA adapters among the requests that a step schedules: at most max_loras different ones
// (vllm/v1/core/sched/scheduler.py). Listed only once a waiting request has one. O(1) for requests
// without an adapter, O(adapters) for the others.
class StepAdapters {
 public:
  explicit StepAdapters(std::optional<std::int64_t> max_loras) : max_loras_(max_loras) {}

  void begin_pass() { listed_ = false; }
  // Whether the step has room for this request's adapter beside those of `plan`.
  bool admits(const workload::RequestSpec& spec, const StepPlan& plan,
              const RequestTable& requests) {
    if (spec.adapter == 0 || !max_loras_) return true;
    if (!listed_) list(plan, requests);
    return static_cast<std::int64_t>(adapters_.size()) < *max_loras_ || has(spec.adapter);
  }
  void add(const workload::RequestSpec& spec) {
    if (listed_ && spec.adapter != 0 && !has(spec.adapter)) adapters_.push_back(spec.adapter);
  }

 private:
  bool has(std::uint64_t adapter) const {
    return std::ranges::find(adapters_, adapter) != adapters_.end();
  }
  void list(const StepPlan& plan, const RequestTable& requests) {
    adapters_.clear();
    listed_ = true;
    for (const StepPlan::Scheduled& item : plan.scheduled) add(requests[item.slot].spec);
  }

  std::optional<std::int64_t> max_loras_;
  bool listed_ = false;
  std::vector<std::uint64_t> adapters_;
};

}  // namespace kvsim::engine
