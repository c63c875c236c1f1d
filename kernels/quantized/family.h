#pragma once
#include "kernels/host/problem.h"

namespace kvsim::kernels {

Problems quantized_edge_cases();
Problems quantized_quick_cases();
Problems quantized_bench_cases();

}  // namespace kvsim::kernels
