// The conversions of numbers.h against CUDA's own, as plain C++ on the host.
#if KVSIM_HAVE_CUDA
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "kernels/numbers/numbers.h"

using namespace kvsim::kernels;

TEST_CASE("conversions to float equal those of the CUDA headers for every code") {
  int wrong = 0;
  const auto differ = [](float a, float b) {
    return std::isnan(a) ? !std::isnan(b)
                         : std::bit_cast<std::uint32_t>(a) != std::bit_cast<std::uint32_t>(b);
  };
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    const float of_half = __half2float(__half(__half_raw{bits}));
    const float of_bfloat = __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{bits}));
    wrong +=
        differ(to_float(F16{bits}), of_half) || differ(to_float(Bf16{bits}), of_bfloat) ? 1 : 0;
    if (code > 0xff) continue;
    const auto byte = static_cast<std::uint8_t>(code);
    const float of_byte = __half2float(__half(__nv_cvt_fp8_to_halfraw(byte, __NV_E4M3)));
    wrong += differ(to_float(E4m3{byte}), of_byte) ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("conversions from float equal those of the CUDA headers over all exponents") {
  int wrong = 0;
  // The step is odd, so that the low bits take many values at every exponent; the ends of each
  // rounding interval are in numbers_test.cpp.
  for (std::uint64_t code = 0; code < (std::uint64_t{1} << 32); code += 1021) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(code));
    const std::uint16_t of_half = std::bit_cast<std::uint16_t>(__float2half_rn(x));
    const std::uint16_t of_bfloat = std::bit_cast<std::uint16_t>(__float2bfloat16_rn(x));
    const std::uint8_t of_byte = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
    if (std::isnan(x)) {
      wrong += !std::isnan(to_float(to_f16(x))) || !std::isnan(to_float(to_bf16(x))) ||
                       !std::isnan(to_float(to_e4m3(x)))
                   ? 1
                   : 0;
      continue;
    }
    wrong += to_f16(x).bits != of_half || to_bf16(x).bits != of_bfloat || to_e4m3(x).bits != of_byte
                 ? 1
                 : 0;
  }
  CHECK(wrong == 0);
}
#endif
