#pragma once
#include "kernels/host/problem.h"

namespace kvsim::kernels {

Problems decode_edge_cases();
Problems decode_quick_cases();
Problems decode_bench_cases();

}  // namespace kvsim::kernels
