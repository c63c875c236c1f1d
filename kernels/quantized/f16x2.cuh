#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/quantized/layout.h"

// Pairs of f16 in a register: how codes become numbers. A code under the exponent of 2^10 is 1024
// plus the code; one exact fused step takes the 1024 away again.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr std::uint32_t f16x2_negative_zero = 0x80008000U;

__device__ __forceinline__ std::uint32_t mul_f16x2(std::uint32_t a, std::uint32_t b) {
  return fma_f16x2(a, b, f16x2_negative_zero);
}

// The low halves (high halves) of two words, as a pair.
__device__ __forceinline__ std::uint32_t low_halves(std::uint32_t a, std::uint32_t b) {
  return byte_perm(a, b, 0x5410U);
}
__device__ __forceinline__ std::uint32_t high_halves(std::uint32_t a, std::uint32_t b) {
  return byte_perm(a, b, 0x7632U);
}

// Codes `i` of the two halves of a word, as numbers 0 ... 2^bits - 1.
template <int bits>
__device__ __forceinline__ std::uint32_t code_pair(std::uint32_t word, int i) {
  const int shift = i * bits / 8 * 8, place = i * bits % 8;
  const std::uint32_t mask = (((1U << bits) - 1U) << place) * 0x00010001U;
  const std::uint32_t held = ((word >> shift) & mask) | 0x64006400U;
  const auto down = static_cast<std::uint32_t>(place) * 0x04000400U;
  return fma_f16x2(held, 0x3c003c00U - down, 0xe400e400U - down);
}

// E2M1 codes `i` of the two halves; 2^14 makes up for the difference of the exponents' biases, also
// for the subnormal 0.5.
__device__ __forceinline__ std::uint32_t e2m1_pair(std::uint32_t word, int i) {
  const std::uint32_t codes = word >> (4 * i);
  const std::uint32_t held = ((codes & 0x00080008U) << 12) | ((codes & 0x00070007U) << 9);
  return mul_f16x2(held, 0x74007400U);
}

// Signed bytes 2 * half and 2 * half + 1 of a word.
__device__ __forceinline__ std::uint32_t int8_pair(std::uint32_t word, int half) {
  const std::uint32_t held =
      byte_perm(word ^ 0x80808080U, 0x64646464U, half == 0 ? 0x4140U : 0x4342U);
  return fma_f16x2(held, 0x3c003c00U, 0xe480e480U);
}

__device__ __forceinline__ std::uint32_t e4m3_pair(std::uint32_t word, int half) {
  return unpack_e4m3x2(static_cast<std::uint16_t>(half == 0 ? word & 0xffffU : word >> 16));
}

// Byte `i` of two words and, above them, byte i + 1 (i even).
__device__ __forceinline__ std::uint32_t bytes_of_two(std::uint32_t a, std::uint32_t b, int i) {
  return byte_perm(a, b, i == 0 ? 0x5140U : 0x7362U);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
