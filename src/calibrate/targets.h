#pragma once
#include <optional>
#include <string_view>

#include "calibrate/fit/fit.h"

namespace kvsim::calibrate {

// The mean absolute error (a fraction) that predictions of a kernel are meant to stay below on rows
// that no fit has seen. Products in narrow formats have a wider one: their kernels also quantise.
std::optional<double> target_of(std::string_view kernel, std::string_view dtype);

// What fits of other people's forms to the same public rows reached, with a third of them held out:
// means of the absolute error, fractions. "form": a closed form of 10 to 25 parameters; "tables":
// with a residual table on top; "roofline": floor + max(bytes / bandwidth, flops / rate).
struct ReferenceError {
  double roofline = 0, form = 0, tables = 0;  // 0 = not published
  double best() const { return tables > 0 && tables < form ? tables : form; }
};
// `backend` "" asks for a group over several backends, which some kernels have no figure for.
// For kernels of engines: kvbench's are our own.
std::optional<ReferenceError> reference_of(const OperatorKey& key);
std::optional<ReferenceError> reference_of(std::string_view kernel, std::string_view gpu,
                                           std::string_view backend, std::string_view dtype,
                                           std::string_view kv_dtype, std::string_view regime);

}  // namespace kvsim::calibrate
