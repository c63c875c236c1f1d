#pragma once
#include <string>
#include <vector>

#include "config/fields.h"

// What a serving engine adds to the time of its kernels. Fitted to published closed-loop runs, per
// framework, version, GPU and weight precision (docs/explanation/step-cost.md).
namespace kvsim::cost {

struct HostProfile {
  double decode_scale = 1, prefill_scale = 1;  // the engine's kernels against the measured ones
  double step_us = 0;      // per step, beside the GPU's work (sampling sync, input preparation)
  double sequence_us = 0;  // per running sequence and step (detokenisation, output processing)
  double prefill_us = 0;   // more in a step with prefill tokens: eager launches
  double request_us = 0;   // per request before it is queued: HTTP, tokenisation
};

// Which deployments a profile was fitted to.
struct HostEntry {
  std::string framework;              // vllm, sglang, trtllm
  std::vector<std::string> versions;  // as runs name them; empty = any
  std::string gpu, precision, model;  // "" = any
  HostProfile profile;
  double layers = 0;      // of the models it was fitted to, in the mean: launches grow with them
  std::int64_t rows = 0;  // of runs that it was fitted to
  std::string source;
};

void fields(config::FieldVisitor& v, HostProfile& p);
void fields(config::FieldVisitor& v, HostEntry& e);

}  // namespace kvsim::cost
