#pragma once
#include <string>

#include "calibrate/validation.h"

namespace kvsim::report {

inline constexpr const char* validation_schema = "kvsim.validation/1";

// The document kvsim.validation/1: groups, overall, skipped rows, conditions. Without paths.
std::string validation_json(const calibrate::Validation& validation);

// Tables for people: one line per kernel and GPU, kernels against their targets, the worst rows
// with what stands behind them, the skipped rows.
std::string validation_text(const calibrate::Validation& validation);

// Every point as CSV: kernel, GPU, framework, dtypes, regime, place, measured, predicted, ratio.
std::string validation_csv(const calibrate::Validation& validation);

// A picture: predicted over measured on logarithmic axes, the perfect line and those 20 % beside
// it. Points that fall together are drawn once, so that any number of rows makes a small file.
std::string validation_svg(const calibrate::Validation& validation);

// The part of the text about serving runs: how near they are by figure and part, and the host
// constants that were fitted for it. "" without serving runs.
std::string serving_text(const calibrate::Validation& validation);

}  // namespace kvsim::report
