#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/stream/stream.h"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned copy_threads = 256;
constexpr int copy_unroll = 4;

// One word per thread and iteration: too few bytes in flight per SM to fill the memory pipe.
__global__ void __launch_bounds__(copy_threads) copy_naive(const CopyArgs args) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < args.words; i += stride)
    store(args.to + i, load(args.from + i));
}

// Four independent loads before the first store.
__global__ void __launch_bounds__(copy_threads) copy_unrolled(const CopyArgs args) {
  const std::int64_t tile = static_cast<std::int64_t>(blockDim.x) * copy_unroll;
  for (std::int64_t base = blockIdx.x * tile; base < args.words; base += gridDim.x * tile) {
    Words4 held[copy_unroll];
#pragma unroll
    for (int u = 0; u < copy_unroll; ++u) {
      const std::int64_t i = base + static_cast<std::int64_t>(u) * blockDim.x + threadIdx.x;
      if (i < args.words) held[u] = load_stream(args.from + i);
    }
#pragma unroll
    for (int u = 0; u < copy_unroll; ++u) {
      const std::int64_t i = base + static_cast<std::int64_t>(u) * blockDim.x + threadIdx.x;
      if (i < args.words) store(args.to + i, held[u]);
    }
  }
}

inline unsigned copy_grid(std::int64_t words, std::int64_t words_per_block) {
  const std::int64_t blocks = (words + words_per_block - 1) / words_per_block;
  return static_cast<unsigned>(blocks < 1 ? 1 : (blocks > 8192 ? 8192 : blocks));
}

VariantList<CopyArgs> copy_variants() {
  static const Variant<CopyArgs> list[] = {
      {"naive", 80, true,
       [](const CopyArgs& a, Stream s) {
         launch(copy_naive, {copy_grid(a.words, copy_threads)}, copy_threads, 0, s, a);
       }},
      {"unrolled4", 80, false,
       [](const CopyArgs& a, Stream s) {
         launch(copy_unrolled, {copy_grid(a.words, copy_threads * copy_unroll)}, copy_threads, 0, s,
                a);
       }},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
