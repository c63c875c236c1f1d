#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/stream/stream.h"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned write_threads = 256;

// Four bytes per thread and store: four times the instructions of what follows.
__global__ void __launch_bounds__(write_threads) write_naive(const WriteArgs args) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < args.words * 4; i += stride)
    store(as<std::uint32_t>(args.to) + i, args.seed + static_cast<std::uint32_t>(i));
}

// 16 bytes per store, `unroll` stores per thread and iteration.
template <int unroll>
__global__ void __launch_bounds__(write_threads) write_unrolled(const WriteArgs args) {
  const std::int64_t tile = static_cast<std::int64_t>(blockDim.x) * unroll;
  for (std::int64_t base = blockIdx.x * tile; base < args.words; base += gridDim.x * tile) {
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const std::int64_t i = base + static_cast<std::int64_t>(u) * blockDim.x + threadIdx.x;
      const std::uint32_t first = args.seed + 4U * static_cast<std::uint32_t>(i);
      if (i < args.words) store(args.to + i, {{first, first + 1, first + 2, first + 3}});
    }
  }
}

template <int unroll>
void launch_write_unrolled(const WriteArgs& args, Stream stream) {
  launch(write_unrolled<unroll>,
         {stream_grid(args.words, write_threads * unroll, args.most_blocks)}, write_threads, 0,
         stream, args);
}

VariantList<WriteArgs> write_variants() {
  static const Variant<WriteArgs> list[] = {
      {"naive", 80, true,
       [](const WriteArgs& a, Stream s) {
         launch(write_naive, {stream_grid(a.words * 4, write_threads, a.most_blocks)},
                write_threads, 0, s, a);
       }},
      {"vector", 80, false, launch_write_unrolled<1>},
      {"vector4", 80, false, launch_write_unrolled<4>},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
