#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/stream/bulk_ring.cuh"
#include "kernels/stream/stream.h"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned read_threads = 256;

__device__ __forceinline__ std::uint32_t sum_of(const Words4& w) {
  return w.word[0] + w.word[1] + w.word[2] + w.word[3];
}

// sums[block] = the sum over the block's threads. `shared`: a word per warp.
__device__ __forceinline__ void store_block_sum(Global<std::uint32_t> sums, std::uint32_t sum,
                                                std::uint32_t* shared) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) shared[warp] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t total = 0;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) total += shared[w];
    store(sums + blockIdx.x, total);
  }
}

// `unroll` independent loads in flight per thread; 1 is the naive version.
template <int unroll>
__global__ void __launch_bounds__(read_threads) read_unrolled(const ReadArgs args) {
  KVSIM_SHARED(shared);
  const std::int64_t tile = static_cast<std::int64_t>(blockDim.x) * unroll;
  std::uint32_t sum = 0;
  for (std::int64_t base = blockIdx.x * tile; base < args.words; base += gridDim.x * tile) {
    const std::int64_t first = base + threadIdx.x;
    if (base + tile <= args.words) {
      // No condition between the loads, or they would wait for one another.
      Words4 held[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        held[u] = load_stream(args.from + (first + static_cast<std::int64_t>(u) * blockDim.x));
#pragma unroll
      for (int u = 0; u < unroll; ++u) sum += sum_of(held[u]);
    } else {
      for (std::int64_t i = first; i < args.words; i += blockDim.x)
        sum += sum_of(load_stream(args.from + i));
    }
  }
  store_block_sum(args.sums, sum, reinterpret_cast<std::uint32_t*>(shared));
}

__global__ void __launch_bounds__(ring_threads) read_bulk_ring(const ReadArgs args) {
  KVSIM_SHARED(shared);
  std::uint32_t sum = 0;
  stream_through_ring(args.from, args.words, shared,
                      [&](const Words4& word, std::int64_t) { sum += sum_of(word); });
  __syncthreads();
  store_block_sum(args.sums, sum, reinterpret_cast<std::uint32_t*>(shared + 128));
}

template <int unroll>
void launch_read_unrolled(const ReadArgs& args, Stream stream) {
  launch(read_unrolled<unroll>, {args.blocks}, read_threads, read_threads / 32 * 4, stream, args);
}

VariantList<ReadArgs> read_variants() {
  static const Variant<ReadArgs> list[] = {
      {"naive", 80, true, launch_read_unrolled<1>},
      {"unrolled4", 80, false, launch_read_unrolled<4>},
      {"unrolled8", 80, false, launch_read_unrolled<8>},
      {"bulk_ring", 90, false,
       [](const ReadArgs& a, Stream s) {
         launch(read_bulk_ring, {a.blocks}, ring_threads, ring_shared_bytes, s, a);
       }},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
