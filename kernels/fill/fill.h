#pragma once
#include <cstdint>

#include "kernels/host/array.h"
#include "kernels/numbers/numbers.h"

// Fills arrays in device memory with noise, the same on both backends: references recompute an
// element from (seed, index) and big tensors never cross PCIe. Queued on device.stream().
namespace kvsim::kernels {

// `count` elements; `to` aligned to 16 bytes. `scale` is not read by fill_bits.
template <class T>
struct FillArgs {
  Global<T> to;
  std::int64_t count = 0;
  std::uint64_t seed = 0;
  float scale = 1;
};

// Element i = to_bf16(scale * noise_normal(seed, i)).
void fill_bf16(Device& device, Global<Bf16> to, std::int64_t count, std::uint64_t seed,
               float scale);
// Element i = to_e4m3(scale * noise_normal(seed, i)).
void fill_e4m3(Device& device, Global<E4m3> to, std::int64_t count, std::uint64_t seed,
               float scale);
// Element i = scale * noise_normal(seed, i).
void fill_f32(Device& device, Global<float> to, std::int64_t count, std::uint64_t seed,
              float scale);
// Word i = the low half of noise_bits(seed, i).
void fill_bits(Device& device, Global<std::uint32_t> to, std::int64_t count, std::uint64_t seed);

inline void fill_bf16(Device& device, Array<Bf16>& to, std::uint64_t seed, float scale) {
  fill_bf16(device, to.view(), static_cast<std::int64_t>(to.size()), seed, scale);
}
inline void fill_e4m3(Device& device, Array<E4m3>& to, std::uint64_t seed, float scale) {
  fill_e4m3(device, to.view(), static_cast<std::int64_t>(to.size()), seed, scale);
}
inline void fill_f32(Device& device, Array<float>& to, std::uint64_t seed, float scale) {
  fill_f32(device, to.view(), static_cast<std::int64_t>(to.size()), seed, scale);
}
// Any element type of whole words: word i of the array's memory.
template <class T>
void fill_bits(Device& device, Array<T>& to, std::uint64_t seed) {
  static_assert(sizeof(T) % 4 == 0);
  fill_bits(device, as<std::uint32_t>(to.view()), static_cast<std::int64_t>(to.bytes() / 4), seed);
}

namespace cpu {
void launch_fill(const FillArgs<Bf16>& args, Stream stream);
void launch_fill(const FillArgs<E4m3>& args, Stream stream);
void launch_fill(const FillArgs<float>& args, Stream stream);
void launch_fill(const FillArgs<std::uint32_t>& args, Stream stream);
}  // namespace cpu
namespace gpu {
void launch_fill(const FillArgs<Bf16>& args, Stream stream);
void launch_fill(const FillArgs<E4m3>& args, Stream stream);
void launch_fill(const FillArgs<float>& args, Stream stream);
void launch_fill(const FillArgs<std::uint32_t>& args, Stream stream);
}  // namespace gpu

}  // namespace kvsim::kernels
