#pragma once
#include <string>
#include <vector>

#include "metrics/result.h"
#include "report/exporter.h"

namespace kvsim::report {

// The operators of all engines of a pool together, longest first; shares are of the pool's busy
// time. `binds` and `source` are those of the engine where an operator took longest.
std::vector<metrics::OperatorShare> pool_operators(const metrics::RunResult& result,
                                                   int pool_index);

// The longest `count` of them; the rest is one line "N others" that nothing binds.
std::vector<metrics::OperatorShare> shortened(std::vector<metrics::OperatorShare> operators,
                                              std::size_t count);

// A bar of up to `width` characters for a share of 0 to 1; any share above 0 shows.
std::string share_bar(double share, std::size_t width, Glyphs glyphs);

// Table lines of operators: name, share, what binds, and a bar that is full for the longest.
std::string operator_table(const std::vector<metrics::OperatorShare>& operators, Glyphs glyphs,
                           std::size_t indent);

}  // namespace kvsim::report
