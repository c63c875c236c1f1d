#pragma once
#include <memory>

#include "kernels/host/problem.h"

namespace kvsim::kernels {

struct GemmShape {
  int m, n, k;
};
enum class GemmFormat { bf16, e4m3 };

// C = A B^T / sqrt(k) with A and B of N(0, 1) in the format, C in bf16.
std::unique_ptr<Problem> make_gemm(GemmFormat format, const GemmShape& shape);

// The rate of the matrix instruction alone: `blocks` blocks of four warps, `rounds` rounds.
std::unique_ptr<Problem> make_mma_peak(GemmFormat format, unsigned blocks, int rounds);

Problems gemm_edge_cases();
Problems gemm_quick_cases();
Problems gemm_bench_cases();

}  // namespace kvsim::kernels
