#pragma once
#include "kernels/host/problem.h"

namespace kvsim::kernels {

Problems stream_edge_cases();
Problems stream_quick_cases();
Problems stream_bench_cases();

}  // namespace kvsim::kernels
