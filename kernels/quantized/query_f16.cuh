#pragma once
#include "kernels/attention/softmax.cuh"
#include "kernels/device/kv_device.h"

// bf16 queries to f16: a power of two per row brings the largest to 1 ... 2, so that nothing
// overflows and what is lost is below 2^-24 of it.
namespace kvsim::kernels::KVSIM_BACKEND {

__device__ __forceinline__ float largest_of_pair(std::uint32_t two) {
  return fmaxf(fabsf(low_bf16(two)), fabsf(high_bf16(two)));
}

// The power of two, as bits, that is taken out of a row whose largest element is given.
struct RowPower {
  float down, up;
  __device__ explicit RowPower(float largest) {
    const std::uint32_t exponent = std::bit_cast<std::uint32_t>(largest) & 0x7f800000U;
    const bool usable = exponent >= 0x00800000U && exponent < 0x7f000000U;
    const std::uint32_t power = usable ? exponent : 0x3f800000U;
    down = std::bit_cast<float>(0x7f000000U - power), up = std::bit_cast<float>(power);
  }
  __device__ __forceinline__ std::uint32_t f16(std::uint32_t two) const {
    return pack_f16(low_bf16(two) * down, high_bf16(two) * down);
  }
};

}  // namespace kvsim::kernels::KVSIM_BACKEND
