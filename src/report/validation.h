#pragma once
#include <string>

#include "calibrate/validation.h"

namespace kvsim::report {

inline constexpr const char* validation_schema = "kvsim.validation/1";

// The document kvsim.validation/1: groups, overall, skipped rows, conditions. Without paths.
std::string validation_json(const calibrate::Validation& validation);

// Tables for people: one line per kernel and GPU, the `worst` worst rows, the skipped rows.
std::string validation_text(const calibrate::Validation& validation, std::size_t worst = 10);

// Every point as CSV: kernel, GPU, framework, dtypes, regime, place, measured, predicted, ratio.
std::string validation_csv(const calibrate::Validation& validation);

}  // namespace kvsim::report
