#pragma once
#include <string_view>

#include "calibrate/measurements/measurement.h"
#include "config/document.h"

namespace kvsim::calibrate {

// The member of that name and kind, or an invalid value and a diagnostic.
config::Value member(config::Value object, std::string_view name, bool right_kind(config::Value),
                     std::string_view wanted, Diagnostics& diagnostics);
bool is_text(config::Value v);
bool is_amount(config::Value v);  // a number from 0 to 1e21

// Fills in the operator that a timed case is (attention over a KV cache, MLA, prefill, matrix
// products: those that kvsim has forms for), by its "shape" and "dtype". False: it is none.
bool read_shape(std::string_view kernel, config::Value result, Measurement& m,
                Diagnostics& diagnostics);

// A case of no such operator, or of one that is not to stand for it: `work`, the bytes and
// operations that the case states, in the group "bench" with the kernel as its regime.
void read_stated(std::string_view kernel, config::Value result, const BenchCase& work,
                 Measurement& m);
void make_stated(std::string_view kernel, const BenchCase& work, Measurement& m);

}  // namespace kvsim::calibrate
