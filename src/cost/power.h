#pragma once
#include <optional>

#include "cost/cost_model.h"
#include "spec/gpu_spec.h"

namespace kvsim::cost {

// What a GPU's board draws, in watts: an estimate from its power limit and the load of its steps,
// good to about 25 %. Between steps a GPU that serves a model draws `idle_w`; in a step
//
//   idle_w + (limit_w - idle_w) * min(1, 0.5 * bandwidth share + 1.7 * compute share)
//
// of the peaks of memory and matrix units. Constants, sources and what they were held against:
// docs/explanation/energy.md. Hosts, networks and cooling draw more on top.
struct Power {
  double idle_w = 0, limit_w = 0;
  Bandwidth bandwidth;  // peak

  // 0 (idle) to 1 (at the limit): the mean over the step and the GPUs of a stage group. A stage of
  // a pipeline idles while the others work, which is the caller's to count.
  double load(const StepBill& bill) const;
  double watts(double load) const { return idle_w + (limit_w - idle_w) * load; }
};

inline constexpr double idle_share = 0.15;  // of the limit
inline constexpr double bandwidth_weight = 0.5, compute_weight = 1.7;
inline constexpr double power_error = 0.25;  // either way, stated with every figure

// Absent where the GPU states no power limit.
std::optional<Power> power_of(const spec::GpuSpec& gpu);

}  // namespace kvsim::cost
