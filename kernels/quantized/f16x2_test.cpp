#include "kernels/quantized/f16x2.cuh"

#include <doctest/doctest.h>

#include <cmath>

using namespace kvsim::kernels;

namespace {

float half(std::uint32_t pair, int i) {
  return to_float(F16{static_cast<std::uint16_t>(pair >> (16 * i))});
}

}  // namespace

TEST_CASE("codes at every place of a word become their numbers exactly") {
  for (std::uint32_t lo = 0; lo < 16; ++lo)
    for (std::uint32_t hi = 0; hi < 16; ++hi)
      for (int i = 0; i < 4; ++i) {
        // The other codes of the word are all ones.
        const std::uint32_t noise = ~(0x000f000fU << (4 * i));
        const std::uint32_t word = noise | lo << (4 * i) | hi << (4 * i + 16);
        CHECK(half(cpu::code_pair<4>(word, i), 0) == static_cast<float>(lo));
        CHECK(half(cpu::code_pair<4>(word, i), 1) == static_cast<float>(hi));
        CHECK(half(cpu::e2m1_pair(word, i), 0) == e2m1_to_float(lo));
        CHECK(half(cpu::e2m1_pair(word, i), 1) == e2m1_to_float(hi));
      }
  for (std::uint32_t lo = 0; lo < 4; ++lo)
    for (std::uint32_t hi = 0; hi < 4; ++hi)
      for (int i = 0; i < 8; ++i) {
        const std::uint32_t noise = ~(0x00030003U << (2 * i));
        const std::uint32_t word = noise | lo << (2 * i) | hi << (2 * i + 16);
        CHECK(half(cpu::code_pair<2>(word, i), 0) == static_cast<float>(lo));
        CHECK(half(cpu::code_pair<2>(word, i), 1) == static_cast<float>(hi));
      }
}

TEST_CASE("signed bytes and e4m3 bytes of two words become pairs of halves exactly") {
  for (int x = -128; x < 128; ++x) {
    const auto byte = static_cast<std::uint32_t>(x) & 0xffU;
    const std::uint32_t a = byte << 16 | 0x5a00002cU, b = (byte ^ 0x31U) << 16 | 0x12000099U;
    const std::uint32_t both = cpu::bytes_of_two(a, b, 2);
    CHECK(half(cpu::int8_pair(both, 0), 0) == static_cast<float>(x));
    CHECK(half(cpu::int8_pair(both, 0), 1) ==
          static_cast<float>(static_cast<std::int8_t>(byte ^ 0x31U)));
    CHECK(half(cpu::int8_pair(both, 1), 0) == static_cast<float>(0x5a));
    CHECK(half(cpu::int8_pair(both, 1), 1) == static_cast<float>(0x12));
    const E4m3 value{static_cast<std::uint8_t>(byte)};
    if (std::isfinite(to_float(value))) CHECK(half(cpu::e4m3_pair(both, 0), 0) == to_float(value));
  }
}

TEST_CASE("the fused step of two halves rounds once") {
  // 1 + 2^-10 squared is 1 + 2^-9 + 2^-20: less 1 + 2^-9 only a fused step keeps anything.
  const F16 x = to_f16(1.0F + 0x1p-10F), y = to_f16(-1.0F - 0x1p-9F);
  const std::uint32_t a = x.bits * 0x00010001U, c = y.bits * 0x00010001U;
  CHECK(half(cpu::fma_f16x2(a, a, c), 0) == 0x1p-20F);
  CHECK(half(cpu::fma_f16x2(a, a, c), 1) == 0x1p-20F);
}
