#pragma once
#include "kernels/host/problem.h"

namespace kvsim::kernels {

// Streams of `bytes` (a multiple of 16): kernels "copy", "read" and "write". They define the
// bandwidths that other kernels are measured against. Few blocks make each go round its loops
// many times.
constexpr std::int64_t stream_blocks = 8192;
std::unique_ptr<Problem> make_copy(std::int64_t bytes, std::int64_t most_blocks = stream_blocks);
std::unique_ptr<Problem> make_read(std::int64_t bytes, std::int64_t most_blocks = stream_blocks);
std::unique_ptr<Problem> make_write(std::int64_t bytes, std::int64_t most_blocks = stream_blocks);

Problems stream_edge_cases();
Problems stream_quick_cases();
Problems stream_bench_cases();

}  // namespace kvsim::kernels
