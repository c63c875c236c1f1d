#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/measurements/measurement.h"
#include "cost/operators/operator_fit.h"
#include "cost/operators/operator_model.h"

// From rows of one operator on one GPU to a fitted form with tables, errors and range.
namespace kvsim::calibrate {

struct Sample {
  cost::Shape shape;
  double microseconds = 0;
  cost::Buffers buffers = cost::Buffers::replayed;  // the condition it was measured in
};

struct FitOptions {
  bool tables = true;
  std::string_view form;  // only this one; empty: the rival that fits best
  // The plain roofline competes too: for kernels that are written to be nothing else.
  bool roofline_competes = false;
  const cost::OperatorFit* near = nullptr;  // a fit whose parameters are tried as a start too
  int starts = 4;
  std::uint64_t seed = 1;
};

// Fills everything but the labels and the holdout. Deterministic.
// Requires at least one sample, and a form for the kernel.
cost::OperatorFit fit_operator(std::string_view kernel, std::span<const Sample> samples,
                               const cost::Device& device, const FitOptions& options = {});

cost::FitErrors errors_of(const cost::OperatorModel& model, std::span<const Sample> samples);

// What rows of one fit have in common.
struct OperatorKey {
  std::string kernel, gpu, framework, version, backend, dtype, kv_dtype, regime;
  auto operator<=>(const OperatorKey&) const = default;
};
OperatorKey key_of(const Measurement& m);

}  // namespace kvsim::calibrate
