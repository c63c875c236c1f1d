#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/fill/fill.h"
#include "kernels/numbers/noise.h"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned fill_threads = 256;

__device__ inline Bf16 fill_element(const FillArgs<Bf16>& args, std::int64_t i) {
  return to_bf16(args.scale * noise_normal(args.seed, static_cast<std::uint64_t>(i)));
}
__device__ inline E4m3 fill_element(const FillArgs<E4m3>& args, std::int64_t i) {
  return to_e4m3(args.scale * noise_normal(args.seed, static_cast<std::uint64_t>(i)));
}
__device__ inline float fill_element(const FillArgs<float>& args, std::int64_t i) {
  return args.scale * noise_normal(args.seed, static_cast<std::uint64_t>(i));
}
__device__ inline std::uint32_t fill_element(const FillArgs<std::uint32_t>& args, std::int64_t i) {
  return static_cast<std::uint32_t>(noise_bits(args.seed, static_cast<std::uint64_t>(i)));
}

// The 32-bit word that starts at element i.
__device__ inline std::uint32_t fill_word(const FillArgs<Bf16>& args, std::int64_t i) {
  return fill_element(args, i).bits | static_cast<std::uint32_t>(fill_element(args, i + 1).bits)
                                          << 16;
}
__device__ inline std::uint32_t fill_word(const FillArgs<E4m3>& args, std::int64_t i) {
  std::uint32_t word = 0;
#pragma unroll
  for (int b = 0; b < 4; ++b)
    word |= static_cast<std::uint32_t>(fill_element(args, i + b).bits) << (8 * b);
  return word;
}
__device__ inline std::uint32_t fill_word(const FillArgs<float>& args, std::int64_t i) {
  return std::bit_cast<std::uint32_t>(fill_element(args, i));
}
__device__ inline std::uint32_t fill_word(const FillArgs<std::uint32_t>& args, std::int64_t i) {
  return fill_element(args, i);
}

// 16 bytes per thread and store; the elements after the last whole 16 bytes one by one.
template <class T>
__global__ void __launch_bounds__(fill_threads) fill(const FillArgs<T> args) {
  constexpr std::int64_t per_store = 16 / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t per_word = 4 / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t whole = args.count / per_store;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (std::int64_t s = first; s < whole; s += stride) {
    Words4 words;
#pragma unroll
    for (int w = 0; w < 4; ++w) words.word[w] = fill_word(args, s * per_store + w * per_word);
    store(as<Words4>(args.to) + s, words);
  }
  if (first < args.count - whole * per_store) {
    const std::int64_t i = whole * per_store + first;
    store(args.to + i, fill_element(args, i));
  }
}

template <class T>
void launch_any_fill(const FillArgs<T>& args, Stream stream) {
  const std::int64_t per_block = fill_threads * 16 / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t blocks = (args.count + per_block - 1) / per_block;
  if (blocks > 0)
    launch(fill<T>, {static_cast<unsigned>(blocks > 8192 ? 8192 : blocks)}, fill_threads, 0, stream,
           args);
}

void launch_fill(const FillArgs<Bf16>& args, Stream stream) { launch_any_fill(args, stream); }
void launch_fill(const FillArgs<E4m3>& args, Stream stream) { launch_any_fill(args, stream); }
void launch_fill(const FillArgs<float>& args, Stream stream) { launch_any_fill(args, stream); }
void launch_fill(const FillArgs<std::uint32_t>& args, Stream stream) {
  launch_any_fill(args, stream);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
