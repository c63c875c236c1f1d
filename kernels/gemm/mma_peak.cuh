#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/gemm/gemm_tile.cuh"
#include "kernels/numbers/noise.h"

namespace kvsim::kernels::KVSIM_BACKEND {

// Element `position` of register `reg` of the lane's fragments: 0 to 3 are A's, then two per chain.
template <class T>
__device__ __forceinline__ std::uint32_t mma_peak_register(std::uint64_t seed, unsigned lane,
                                                           unsigned reg) {
  constexpr unsigned per_word = 4 / sizeof(T);
  std::uint32_t word = 0;
#pragma unroll
  for (unsigned p = 0; p < per_word; ++p) {
    const float x = noise_normal(seed, (reg * 32U + lane) * per_word + p);
    if constexpr (sizeof(T) == 1)
      word |= static_cast<std::uint32_t>(to_e4m3(x).bits) << (8U * p);
    else
      word |= static_cast<std::uint32_t>(to_bf16(x).bits) << (16U * p);
  }
  return word;
}

// Nothing but matrix instructions: chains of accumulators that do not wait for one another.
template <class T>
__global__ void __launch_bounds__(mma_peak_threads) mma_peak(const MmaPeakArgs args) {
  const unsigned lane = threadIdx.x % 32;
  std::uint32_t a[4], b[mma_peak_chains][2];
#pragma unroll
  for (unsigned r = 0; r < 4; ++r) a[r] = mma_peak_register<T>(args.seed, lane, r);
#pragma unroll
  for (unsigned c = 0; c < mma_peak_chains; ++c)
#pragma unroll
    for (unsigned r = 0; r < 2; ++r) b[c][r] = mma_peak_register<T>(args.seed, lane, 4 + 2 * c + r);
  float sum[mma_peak_chains][4] = {};
  // Always 0, which the compiler cannot know: where it builds the instruction from others it would
  // else multiply once and only add in every round.
  const auto nothing = static_cast<std::uint32_t>(args.rounds < 0);
  for (int round = 0; round < args.rounds; ++round) {
    a[0] += nothing, a[2] += nothing;
#pragma unroll
    for (int c = 0; c < mma_peak_chains; ++c) gemm_multiply<T>(sum[c], a, b[c][0], b[c][1]);
  }
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    float total = 0;
#pragma unroll
    for (int c = 0; c < mma_peak_chains; ++c) total += sum[c][i];
    store(args.out + (4 * thread + i), total);
  }
}

template <class T>
VariantList<MmaPeakArgs> mma_peak_variants_of(int min_cc) {
  static const Variant<MmaPeakArgs> list[] = {
      {"registers", min_cc, false,
       [](const MmaPeakArgs& a, Stream s) {
         launch(mma_peak<T>, {a.blocks}, mma_peak_threads, 0, s, a);
       }},
  };
  return list;
}

VariantList<MmaPeakArgs> mma_peak_bf16_variants() { return mma_peak_variants_of<Bf16>(80); }
VariantList<MmaPeakArgs> mma_peak_e4m3_variants() { return mma_peak_variants_of<E4m3>(89); }

}  // namespace kvsim::kernels::KVSIM_BACKEND
