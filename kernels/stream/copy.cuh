#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/stream/bulk_ring.cuh"
#include "kernels/stream/stream.h"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned copy_threads = 256;

// One word per thread and iteration: too few bytes in flight per SM to fill the memory pipe.
__global__ void __launch_bounds__(copy_threads) copy_naive(const CopyArgs args) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < args.words; i += stride)
    store(args.to + i, load(args.from + i));
}

// `unroll` independent loads before the first store.
template <int unroll>
__global__ void __launch_bounds__(copy_threads) copy_unrolled(const CopyArgs args) {
  const std::int64_t tile = static_cast<std::int64_t>(blockDim.x) * unroll;
  for (std::int64_t base = blockIdx.x * tile; base < args.words; base += gridDim.x * tile) {
    const std::int64_t first = base + threadIdx.x;
    if (base + tile <= args.words) {
      // No condition between the loads, or they would wait for one another.
      Words4 held[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        held[u] = load_stream(args.from + (first + static_cast<std::int64_t>(u) * blockDim.x));
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        store(args.to + (first + static_cast<std::int64_t>(u) * blockDim.x), held[u]);
    } else {
      for (std::int64_t i = first; i < args.words; i += blockDim.x)
        store(args.to + i, load_stream(args.from + i));
    }
  }
}

__global__ void __launch_bounds__(ring_threads) copy_bulk_ring(const CopyArgs args) {
  KVSIM_SHARED(shared);
  stream_through_ring(args.from, args.words, shared,
                      [&](const Words4& word, std::int64_t i) { store(args.to + i, word); });
}

template <int unroll>
void launch_copy_unrolled(const CopyArgs& args, Stream stream) {
  launch(copy_unrolled<unroll>, {stream_grid(args.words, copy_threads * unroll, args.most_blocks)},
         copy_threads, 0, stream, args);
}

VariantList<CopyArgs> copy_variants() {
  static const Variant<CopyArgs> list[] = {
      {"naive", 80, true,
       [](const CopyArgs& a, Stream s) {
         launch(copy_naive, {stream_grid(a.words, copy_threads, a.most_blocks)}, copy_threads, 0, s,
                a);
       }},
      {"unrolled4", 80, false, launch_copy_unrolled<4>},
      {"unrolled8", 80, false, launch_copy_unrolled<8>},
      {"bulk_ring", 90, false,
       [](const CopyArgs& a, Stream s) {
         // Four blocks of 48 KB on each of 132 processors.
         const std::int64_t most = a.most_blocks < 528 ? a.most_blocks : 528;
         launch(copy_bulk_ring, {stream_grid(a.words, ring_tile_words, most)}, ring_threads,
                ring_shared_bytes, s, a);
       }},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
