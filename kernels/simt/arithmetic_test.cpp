#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "kernels/device/cpu_memory.h"
#include "kernels/numbers/noise.h"

using namespace kvsim::kernels;

namespace {

std::uint16_t word16(std::uint64_t index) {
  return static_cast<std::uint16_t>(noise_bits(5, index));
}

long double value(std::uint32_t half) {
  return static_cast<long double>(to_float(F16{static_cast<std::uint16_t>(half)}));
}

bool finite(std::uint32_t half) { return (half & 0x7c00U) != 0x7c00U; }

// No half is nearer to `exact` than `code`, and a tie went to the even one.
bool is_nearest(std::uint32_t code, long double exact) {
  const long double distance = std::abs(value(code) - exact);
  for (const std::uint32_t other : {code - 1, code + 1}) {
    if (!finite(other) || (other & 0x8000U) != (code & 0x8000U)) continue;
    const long double beside = std::abs(value(other) - exact);
    if (beside < distance || (beside == distance && code % 2 == 1)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a fused product and sum of halves is rounded once") {
  int wrong = 0, checked = 0;
  for (std::uint64_t i = 0; i < 300'000; ++i) {
    const std::uint32_t a = word16(3 * i), b = word16(3 * i + 1);
    // Half of the sums have a product near half of c's last place.
    std::uint32_t c = word16(3 * i + 2);
    if (i % 2 == 0)
      c = to_f16(to_float(F16{static_cast<std::uint16_t>(a)}) *
                 to_float(F16{static_cast<std::uint16_t>(b)}) * 2048.0F)
              .bits;
    if (!finite(a) || !finite(b) || !finite(c)) continue;
    const long double exact = value(a) * value(b) + value(c);
    const std::uint32_t got = cpu::fma_f16x2(a << 16 | a, b << 16 | b, c << 16 | c);
    if (std::abs(exact) >= 65504) continue;
    wrong += (got >> 16) != (got & 0xffffU) || !is_nearest(got & 0xffffU, exact) ? 1 : 0;
    ++checked;
  }
  CHECK(checked > 100'000);
  CHECK(wrong == 0);
  // c = 1 + 2^-10 and a product just below half of its last place: two roundings would go up.
  const std::uint32_t below = to_f16(1 - 0x1p-10F).bits, above = to_f16((1 + 0x1p-10F) / 2048).bits;
  CHECK((cpu::fma_f16x2(below, above, 0x3c01) & 0xffffU) == 0x3c01);
}

TEST_CASE("bytes are chosen from two words by a selector") {
  CHECK(cpu::byte_perm(0x33221100U, 0x77665544U, 0x3210) == 0x33221100U);
  CHECK(cpu::byte_perm(0x33221100U, 0x77665544U, 0x7654) == 0x77665544U);
  CHECK(cpu::byte_perm(0x33221100U, 0x77665544U, 0x0527) == 0x00552277U);
}

TEST_CASE("pairs of numbers are packed low half first") {
  CHECK(cpu::pack_bf16(1.0F, -2.0F) == 0xc0003f80U);
  CHECK(cpu::pack_f16(1.0F, -2.0F) == 0xc0003c00U);
  CHECK(cpu::pack_e4m3x2(1.0F, -448.0F) == 0xfe38);
  CHECK(cpu::pack_e4m3x2(1e9F, 0.0F) == 0x007e);
  int wrong = 0;
  for (unsigned two = 0; two < 0x10000; ++two) {
    if ((two & 0x7fU) == 0x7fU || (two >> 8 & 0x7fU) == 0x7fU) continue;
    const std::uint32_t halves = cpu::unpack_e4m3x2(static_cast<std::uint16_t>(two));
    const unsigned back =
        cpu::pack_e4m3x2(to_float(F16{static_cast<std::uint16_t>(halves & 0xffffU)}),
                         to_float(F16{static_cast<std::uint16_t>(halves >> 16)}));
    wrong += back != two ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("powers of two and integers are rounded as the GPU does") {
  for (int i = -126; i < 128; ++i) CHECK(cpu::ex2(static_cast<float>(i)) == std::ldexp(1.0F, i));
  CHECK(cpu::ex2(-std::numeric_limits<float>::infinity()) == 0.0F);
  CHECK(cpu::round_to_int(2.5F) == 2);
  CHECK(cpu::round_to_int(3.5F) == 4);
  CHECK(cpu::round_to_int(-2.5F) == -2);
  CHECK(cpu::round_to_int(-0.75F) == -1);
}
