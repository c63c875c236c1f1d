#pragma once
#include "kernels/host/problem.h"

namespace kvsim::kernels {

Problems mla_edge_cases();
Problems mla_quick_cases();
Problems mla_bench_cases();

}  // namespace kvsim::kernels
