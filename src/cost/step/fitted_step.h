#pragma once
#include <memory>
#include <string>

#include "cost/cost_model.h"
#include "cost/library/cost_library.h"
#include "cost/step/host_profile.h"

namespace kvsim::cost {

// Whose kernels and habits a step has.
enum class Framework { vllm, sglang, trtllm };
inline constexpr std::array<std::string_view, 3> framework_names{"vllm", "sglang", "trtllm"};

// Spread of log(measured / predicted) of whole steps that kernels and host constants do not
// explain: of published closed-loop runs (docs/explanation/validation.md). Nine in ten lie within
// ninety_percent deviations.
inline constexpr double model_discrepancy = 0.12, ninety_percent = 1.645;

struct FittedOptions {
  RooflineOptions deployment;
  Framework framework = Framework::vllm;
  HostProfile host;
};

// Step time from fitted operators: every matrix product, attention by layer group, expert layers
// and collectives by the library's fits, element-wise kernels and what no measurement covers by
// floors and bandwidth, then the engine's host time (docs/explanation/step-cost.md has the
// operators of a layer and the rules of each framework). Times of a token count are kept once
// computed, so that a steady step costs one lookup and its attention. Null when the library has
// nothing for the model's products or attention on any GPU.
std::unique_ptr<CostModel> make_fitted(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                                       const FittedOptions& options, const CostLibrary& library);

}  // namespace kvsim::cost
