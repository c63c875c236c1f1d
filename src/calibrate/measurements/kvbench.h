#pragma once
#include <string>
#include <vector>

#include "calibrate/measurements/measurement.h"
#include "config/document.h"

namespace kvsim::calibrate {

inline constexpr std::string_view kvbench_schema = "kvsim.kvbench/1";

struct BenchRow {
  Measurement measurement;
  std::string place;  // "file:line"
};

// The cases of a kvbench document. Cases that failed, were skipped or have no time (the CPU
// executor) carry their reason. What the document must have and lacks is an InputError.
std::vector<BenchRow> read_kvbench(const config::Document& document);

}  // namespace kvsim::calibrate
