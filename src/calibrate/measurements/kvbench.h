#pragma once
#include <vector>

#include "calibrate/measurements/measurement.h"
#include "config/document.h"

namespace kvsim::calibrate {

inline constexpr std::string_view kvbench_schema = "kvsim.kvbench/1";

// The cases of a kvbench document. Cases that failed, were skipped or have no time (the CPU
// executor) carry their reason. What the document must have and lacks is an InputError.
std::vector<Measurement> read_kvbench(const config::Document& document);

}  // namespace kvsim::calibrate
