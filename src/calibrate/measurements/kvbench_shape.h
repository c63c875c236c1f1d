#pragma once
#include <string_view>

#include "calibrate/measurements/measurement.h"
#include "config/document.h"

namespace kvsim::calibrate {

// The member of that name and kind, or an invalid value and a diagnostic.
config::Value member(config::Value object, std::string_view name, bool right_kind(config::Value),
                     std::string_view wanted, Diagnostics& diagnostics);
bool is_text(config::Value v);
bool is_amount(config::Value v);  // a number from 0

// A naive version is there to be compared with; it never stands for an operator.
enum class Role { operator_kernel, baseline };

// Fills in what a case of kvbench is: an operator that kvsim has forms for (attention over a KV
// cache, MLA, prefill, matrix products), by its "shape" and "dtype", or `work`, the bytes and
// operations that the case states itself.
void read_shape(std::string_view kernel, Role role, config::Value result, const BenchCase& work,
                Measurement& m, Diagnostics& diagnostics);

}  // namespace kvsim::calibrate
