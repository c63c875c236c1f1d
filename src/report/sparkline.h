#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "report/exporter.h"

namespace kvsim::report {

// `values` averaged into at most `columns` equal parts.
std::vector<double> resample(std::span<const double> values, std::size_t columns);

// One character per value, in eight heights from 0 to `top`; a value above 0 is never drawn as the
// lowest height in ASCII (a blank). `top` <= 0: the largest value.
std::string sparkline(std::span<const double> values, double top, Glyphs glyphs);

}  // namespace kvsim::report
