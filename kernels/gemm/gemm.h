#pragma once
#include <cstdint>

#include "kernels/device/global.h"
#include "kernels/host/variants.h"
#include "kernels/numbers/numbers.h"

namespace kvsim::kernels {

// C[m][n] = scale * sum_k A[m][k] B[n][k]: both factors hold their k values side by side, as
// activations and the weights of a linear layer do. Rows begin at multiples of 16 bytes:
// k * sizeof(T) is a multiple of 16.
template <class T>
struct GemmArgs {
  Global<const T> a = {}, b = {};
  Global<Bf16> c = {};
  int m = 0, n = 0, k = 0;
  float scale = 1;
};

// Every warp of `blocks` blocks multiplies the same pair of fragments `rounds` times per chain of
// accumulators, and adds the chains up: out[thread][4] are the thread's four elements of
// rounds * A (B_0 + B_1 + ...). Fragments are noise of the seed.
struct MmaPeakArgs {
  Global<float> out;
  std::uint64_t seed = 0;
  int rounds = 0;
  unsigned blocks = 0;
};
constexpr unsigned mma_peak_threads = 128;
constexpr int mma_peak_chains = 8;

namespace cpu {
VariantList<GemmArgs<Bf16>> gemm_bf16_variants();
VariantList<GemmArgs<E4m3>> gemm_e4m3_variants();
VariantList<MmaPeakArgs> mma_peak_bf16_variants();
VariantList<MmaPeakArgs> mma_peak_e4m3_variants();
}  // namespace cpu
namespace gpu {
VariantList<GemmArgs<Bf16>> gemm_bf16_variants();
VariantList<GemmArgs<E4m3>> gemm_e4m3_variants();
VariantList<MmaPeakArgs> mma_peak_bf16_variants();
VariantList<MmaPeakArgs> mma_peak_e4m3_variants();
}  // namespace gpu

}  // namespace kvsim::kernels
