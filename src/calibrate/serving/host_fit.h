#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/serving/closed_loop.h"

namespace kvsim::calibrate {

// A closed-loop run with what it measured, ready for the host's constants.
struct ServedRun {
  std::string framework, version, gpu, precision, model;
  WorkingPoint point;
  EngineHabits habits;
  double ttft = 0, tpot = 0;  // seconds; 0 = not measured
  double layers = 0;          // of the model
};

// Which of the host's constants are free: four at most are fitted to a group.
enum class HostTerms { steps, scales, none };

struct HostFit {
  cost::HostProfile profile;
  HostTerms terms = HostTerms::none;
  double loss = 0;
  bool on_bound = false;  // a scale or the request time ended where the fit may not go on
};
// Robust fit of the constants to the runs' TPOT and TTFT. Per-step time, per-sequence time, prefill
// time and request time; or, where kernels are off by a factor, two scales in place of the first
// and third. Which of the two by cross-validation. At least two runs, else all constants are 0.
HostFit fit_host(std::span<const ServedRun> runs);

}  // namespace kvsim::calibrate
