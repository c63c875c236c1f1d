#pragma once
#include <string>

#include "kernels/bench/document.h"
#include "kernels/bench/options.h"

// What a person reads on stderr.
namespace kvsim::kernels::bench {

// Id, status or time, GB/s, shares of the copy bandwidth and of the floor, error.
std::string one_line(const Result& result, const Ceilings& ceilings);

// Ceilings, a line per result, counts, and the next useful step.
std::string summary(const Document& document, const Options& options);

}  // namespace kvsim::kernels::bench
