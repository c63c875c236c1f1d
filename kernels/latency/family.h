#pragma once
#include "kernels/host/problem.h"

namespace kvsim::kernels {

// Kernel "pointer_chase": one run is `steps` dependent loads over `bytes`; microseconds per run
// over steps is the latency of one. Buffer sets are walked in turn, so only sizes that one set
// alone carries beyond the L2 cache make sense in timing; chase.h serves the levels above.
std::unique_ptr<Problem> make_pointer_chase(std::int64_t bytes, int steps);

// Kernel "empty": the floor of a launch.
std::unique_ptr<Problem> make_empty(unsigned blocks, unsigned threads);

Problems latency_edge_cases();
Problems latency_quick_cases();
Problems latency_bench_cases();

}  // namespace kvsim::kernels
