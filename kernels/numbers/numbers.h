#pragma once
#include <bit>
#include <cstdint>

#include "kernels/numbers/portable.h"

// Storage of the number formats that the kernels read and write, and their conversions, all with
// round to nearest, ties to even. Own types, because the CPU build has no CUDA headers; where the
// toolkit exists a test compares every value with them.
namespace kvsim::kernels {

struct Bf16 {
  std::uint16_t bits;
};
struct F16 {
  std::uint16_t bits;
};
// OCP FP8 E4M3: bias 7, largest 448, no infinity, 0x7f and 0xff are NaN.
struct E4m3 {
  std::uint8_t bits;
};

KVSIM_FN constexpr float to_float(Bf16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}

// NaN stays NaN (quieted), overflow becomes infinity as rounding says.
KVSIM_FN constexpr Bf16 to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return {static_cast<std::uint16_t>((bits >> 16) | 0x40U)};
  return {static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16)};
}

KVSIM_FN constexpr float to_float(F16 x) {
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = x.bits & 0x7fffU;
  if (magnitude >= 0x7c00U)
    return std::bit_cast<float>(sign | 0x7f800000U | ((magnitude & 0x3ffU) << 13));
  if (magnitude >= 0x400U) return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000U));
  // Subnormal: an integer multiple of 2^-24.
  const float value = static_cast<float>(magnitude) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

KVSIM_FN constexpr F16 to_f16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return {static_cast<std::uint16_t>(sign | 0x7e00U)};
  if (magnitude >= 0x477ff000U) return {static_cast<std::uint16_t>(sign | 0x7c00U)};
  if (magnitude < 0x38800000U) {
    // Adding 0.5 leaves the multiple of 2^-24 in the low bits, rounded by the adder.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return {
        static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000U))};
  }
  const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
  return {static_cast<std::uint16_t>(sign | ((rounded - 0x38000000U) >> 13))};
}

KVSIM_FN constexpr float to_float(E4m3 x) {
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x80U) << 24;
  const std::uint32_t magnitude = x.bits & 0x7fU;
  if (magnitude == 0x7fU) return std::bit_cast<float>(sign | 0x7fc00000U);
  if (magnitude >= 8U) return std::bit_cast<float>(sign | ((magnitude << 20) + 0x3c000000U));
  const float value = static_cast<float>(magnitude) * 0x1p-9F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
}

// Saturates to +-448, as cvt.rn.satfinite.e4m3x2 does.
KVSIM_FN constexpr E4m3 to_e4m3(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint8_t>((bits >> 24) & 0x80U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return {static_cast<std::uint8_t>(sign | 0x7fU)};
  if (magnitude >= 0x43e00000U) return {static_cast<std::uint8_t>(sign | 0x7eU)};
  if (magnitude < 0x3c800000U) {
    // Below the smallest normal: multiples of 2^-9, rounded by adding 2^14, whose step is 2^-9.
    const float shifted = std::bit_cast<float>(magnitude) + 0x1p14F;
    return {
        static_cast<std::uint8_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x46800000U))};
  }
  const std::uint32_t rounded = magnitude + 0x7ffffU + ((magnitude >> 20) & 1U);
  return {static_cast<std::uint8_t>(sign | ((rounded - 0x3c000000U) >> 20))};
}

// E2M1, the element of NVFP4 and MXFP4: sign and one of 0, 0.5, 1, 1.5, 2, 3, 4, 6 in the low 4
// bits.
KVSIM_FN constexpr float e2m1_to_float(std::uint32_t code) {
  const std::uint32_t magnitude = code & 7U;
  const float value = magnitude < 2U ? 0.5F * static_cast<float>(magnitude)
                                     : std::bit_cast<float>((magnitude << 22) + 0x3f000000U);
  return (code & 8U) != 0U ? -value : value;
}

// Saturates to +-6; ties go to the even code.
KVSIM_FN constexpr std::uint32_t float_to_e2m1(float x) {
  const float magnitude = x < 0 ? -x : x;
  const std::uint32_t sign = (std::bit_cast<std::uint32_t>(x) >> 28) & 8U;
  std::uint32_t code = 0;
  code += magnitude > 0.25F ? 1U : 0U;
  code += magnitude >= 0.75F ? 1U : 0U;
  code += magnitude > 1.25F ? 1U : 0U;
  code += magnitude >= 1.75F ? 1U : 0U;
  code += magnitude > 2.5F ? 1U : 0U;
  code += magnitude >= 3.5F ? 1U : 0U;
  code += magnitude > 5.0F ? 1U : 0U;
  return sign | code;
}

}  // namespace kvsim::kernels
