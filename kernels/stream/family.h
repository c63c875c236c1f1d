#pragma once
#include "kernels/host/problem.h"

namespace kvsim::kernels {

// Streams of `bytes` (a multiple of 16): kernels "copy", "read" and "write". They define the
// bandwidths that other kernels are measured against.
std::unique_ptr<Problem> make_copy(std::int64_t bytes);
std::unique_ptr<Problem> make_read(std::int64_t bytes);
std::unique_ptr<Problem> make_write(std::int64_t bytes);

Problems stream_edge_cases();
Problems stream_quick_cases();
Problems stream_bench_cases();

}  // namespace kvsim::kernels
