#pragma once
#include <cmath>
#include <limits>

#include "kernels/device/kv_device.h"

// Online softmax in base 2. A state is (m, l, o): m the largest score seen, times scale * log2(e);
// l the sum of 2^(score - m); o the sum of 2^(score - m) * value, not yet divided by l. A state
// that saw nothing has m = -inf and l = 0, its o is meaningless; every helper here guards the
// difference of two infinities, so that empty states, splits and rows stay free of NaN.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
constexpr float log2_e = 1.44269504088896340736F;
constexpr float ln_2 = 0.69314718055994530942F;
constexpr unsigned full_warp = 0xffffffffU;

// What is subtracted from scores before ex2: m, or 0 where nothing was seen (all scores -inf).
__device__ __forceinline__ float finite_or_zero(float m) { return m == minus_infinity ? 0.0F : m; }

// The factor by which a state with maximum m counts next to one with maximum m_new >= m.
__device__ __forceinline__ float rescale(float m, float m_new) {
  return ex2(m - finite_or_zero(m_new));
}

// 1 / l, 0 for a state that saw nothing: its output is zeros.
__device__ __forceinline__ float reciprocal_or_zero(float l) { return l > 0.0F ? 1.0F / l : 0.0F; }

// log of the sum of exp(scores), natural; -inf for a state that saw nothing.
__device__ __forceinline__ float natural_lse(float m, float l) {
  return l > 0.0F ? (m + ::log2f(l)) * ln_2 : minus_infinity;
}

// Over groups of `lanes` neighbouring lanes (a power of two); all 32 lanes of the warp call.
template <int lanes = 32>
__device__ __forceinline__ float lanes_max(float x) {
#pragma unroll
  for (int step = lanes / 2; step > 0; step /= 2) {
    const float other = __shfl_xor_sync(full_warp, x, step);
    x = other > x ? other : x;
  }
  return x;
}

template <int lanes = 32>
__device__ __forceinline__ float lanes_sum(float x) {
#pragma unroll
  for (int step = lanes / 2; step > 0; step /= 2) x += __shfl_xor_sync(full_warp, x, step);
  return x;
}

// The four lanes that hold one row of an mma accumulator.
__device__ __forceinline__ float quad_max(float x) { return lanes_max<4>(x); }
__device__ __forceinline__ float quad_sum(float x) { return lanes_sum<4>(x); }

// The two bf16 of a word, low half first.
__device__ __forceinline__ float low_bf16(std::uint32_t two) {
  return std::bit_cast<float>(two << 16);
}
__device__ __forceinline__ float high_bf16(std::uint32_t two) {
  return std::bit_cast<float>(two & 0xffff0000U);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
