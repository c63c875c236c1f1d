#pragma once
#include "kernels/attention/softmax.cuh"
#include "kernels/device/kv_device.h"
#include "kernels/mla/mla.h"

// What the MLA kernels share: addresses of cache rows and small arithmetic.
namespace kvsim::kernels::KVSIM_BACKEND {

// The row of the cache that holds a token.
__device__ inline int mla_cache_row(const LatentCache& cache, int sequence, int token) {
  const std::int64_t entry =
      static_cast<std::int64_t>(sequence) * cache.max_pages + (token >> cache.log2_page);
  const int page = load(cache.table + entry);
  return (page << cache.log2_page) | (token & ((1 << cache.log2_page) - 1));
}

__device__ inline Global<const Bf16> mla_cache_row_address(const LatentCache& cache, int row) {
  return cache.rows + static_cast<std::int64_t>(row) * mla_row;
}

// Eight bf16 of 16 bytes as floats.
__device__ inline void mla_unpack8(float (&out)[8], const Words4& words) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    out[2 * i] = low_bf16(words.word[i]);
    out[2 * i + 1] = high_bf16(words.word[i]);
  }
}

__device__ inline float mla_dot8(const float (&a)[8], const float (&b)[8]) {
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += a[i] * b[i];
  return sum;
}

__device__ inline float mla_max2(float a, float b) { return a < b ? b : a; }

}  // namespace kvsim::kernels::KVSIM_BACKEND
