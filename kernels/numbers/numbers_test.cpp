#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/numbers/noise.h"
#include "kernels/numbers/numbers.h"

using namespace kvsim::kernels;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// A small format as its definition reads: sign, exponent with a bias, mantissa, subnormals.
struct Format {
  int mantissa_bits, bias;
  std::uint32_t finite;  // codes 0 .. finite - 1 are the finite values without a sign, ascending
  float (*decode)(std::uint32_t);
  std::uint32_t (*encode)(float);
  std::uint32_t sign;
  float beyond;  // what a value above the largest becomes

  double value(std::uint32_t code) const {
    const auto exponent = static_cast<int>(code >> mantissa_bits);
    const double fraction =
        std::ldexp(code & ((1U << mantissa_bits) - 1U), -mantissa_bits) + (exponent > 0 ? 1 : 0);
    return std::ldexp(fraction, (exponent > 0 ? exponent : 1) - bias);
  }
};

const Format f16{10,
                 15,
                 0x7c00,
                 [](std::uint32_t c) { return to_float(F16{static_cast<std::uint16_t>(c)}); },
                 [](float x) { return std::uint32_t{to_f16(x).bits}; },
                 0x8000,
                 infinity};
const Format bf16{7,
                  127,
                  0x7f80,
                  [](std::uint32_t c) { return to_float(Bf16{static_cast<std::uint16_t>(c)}); },
                  [](float x) { return std::uint32_t{to_bf16(x).bits}; },
                  0x8000,
                  infinity};
const Format e4m3{3,
                  7,
                  0x7f,
                  [](std::uint32_t c) { return to_float(E4m3{static_cast<std::uint8_t>(c)}); },
                  [](float x) { return std::uint32_t{to_e4m3(x).bits}; },
                  0x80,
                  448};
const Format e2m1{1, 1, 8, e2m1_to_float, float_to_e2m1, 8, 6};

// Counts instead of asserting per value, which would take minutes.
int wrong_values(const Format& f) {
  int wrong = 0;
  for (std::uint32_t code = 0; code < f.finite; ++code) {
    const auto want = static_cast<float>(f.value(code));
    for (const std::uint32_t sign : {0U, f.sign}) {
      const float got = f.decode(code | sign);
      wrong += got != (sign != 0 ? -want : want) || std::signbit(got) != (sign != 0) ? 1 : 0;
      wrong += f.encode(got) != (code | sign) ? 1 : 0;
    }
  }
  return wrong;
}

// The floats at, just below and just above the middle of each pair of neighbours.
int wrong_roundings(const Format& f) {
  int wrong = 0;
  for (std::uint32_t code = 0; code + 1 < f.finite; ++code) {
    const auto middle = static_cast<float>((f.value(code) + f.value(code + 1)) / 2);
    const std::uint32_t even = code % 2 == 0 ? code : code + 1;
    for (const std::uint32_t sign : {0U, f.sign}) {
      const float s = sign != 0 ? -1.0F : 1.0F;
      wrong += f.encode(s * middle) != (even | sign) ? 1 : 0;
      wrong += f.encode(s * std::nextafter(middle, 0.0F)) != (code | sign) ? 1 : 0;
      wrong += f.encode(s * std::nextafter(middle, infinity)) != ((code + 1) | sign) ? 1 : 0;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("every value of every format is what its definition says and survives a round trip") {
  for (const Format& f : {f16, bf16, e4m3, e2m1}) CHECK(wrong_values(f) == 0);
}

TEST_CASE("the middle of two neighbours goes to the even one and what is beside it to the nearer") {
  for (const Format& f : {f16, bf16, e4m3, e2m1}) CHECK(wrong_roundings(f) == 0);
}

TEST_CASE("what is beyond the largest value becomes infinity or the largest value") {
  for (const Format& f : {f16, bf16, e4m3, e2m1}) {
    CHECK(f.decode(f.encode(infinity)) == f.beyond);
    CHECK(f.decode(f.encode(-infinity)) == -f.beyond);
    CHECK(f.decode(f.encode(3.4e38F)) ==
          (&f == &bf16 ? f.decode(0x7f7f) : f.decode(f.encode(infinity))));
  }
  // Half a step above the largest value is the first that becomes infinity.
  CHECK(to_f16(65519.996F).bits == 0x7bff);
  CHECK(to_f16(65520.0F).bits == 0x7c00);
}

TEST_CASE("NaN stays NaN and infinity stays infinity where the format has them") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::uint32_t payload : {0x7f800001U, 0x7fc00000U, 0xff800001U, 0xffffffffU}) {
    const auto x = std::bit_cast<float>(payload);
    CHECK(std::isnan(to_float(to_bf16(x))));
    CHECK(std::isnan(to_float(to_f16(x))));
    CHECK(std::isnan(to_float(to_e4m3(x))));
  }
  int infinite = 0, not_a_number = 0;
  for (std::uint32_t code = 0x7c00; code < 0x8000; ++code) {
    infinite += std::isinf(f16.decode(code)) ? 1 : 0;
    not_a_number += std::isnan(f16.decode(code)) ? 1 : 0;
  }
  CHECK(infinite == 1);
  CHECK(not_a_number == 1023);
  CHECK(std::isnan(e4m3.decode(0x7f)));
  CHECK(std::isnan(e4m3.decode(0xff)));
  CHECK(std::isnan(nan));
}

TEST_CASE("floats between the midpoints round to the nearer neighbour in bf16") {
  int wrong = 0;
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(noise_bits(3, i));
    const auto x = std::bit_cast<float>(bits);
    if (!std::isfinite(x)) continue;
    const std::uint32_t below = bits >> 16;  // towards zero
    const double low = static_cast<double>(to_float(Bf16{static_cast<std::uint16_t>(below)}));
    const double high = static_cast<double>(
        std::bit_cast<float>(static_cast<std::uint32_t>(std::min(below + 1, 0xff7fU)) << 16));
    const double to_low = std::abs(static_cast<double>(x) - low);
    const double to_high = std::abs(high - static_cast<double>(x));
    if (!std::isfinite(high) || to_low == to_high) continue;
    wrong += to_bf16(x).bits != (to_low < to_high ? below : below + 1) ? 1 : 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("noise is the sum of eight bytes and close to a normal distribution") {
  double sum = 0, square = 0, fourth = 0, product = 0, previous = 0, largest = 0;
  constexpr int count = 1 << 20;
  int wrong = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(noise_normal(11, i));
    int bytes = 0;
    for (std::uint64_t bits = noise_bits(11, i); bits != 0; bits >>= 8)
      bytes += static_cast<int>(bits & 0xffU);
    wrong += std::abs(x - (bytes - 1020) / 209.0164) > 1e-6 ? 1 : 0;
    sum += x, square += x * x, fourth += x * x * x * x, product += x * previous;
    previous = x;
    largest = std::max(largest, std::abs(x));
  }
  CHECK(wrong == 0);
  CHECK(std::abs(sum / count) < 4e-3);  // four standard errors
  CHECK(std::abs(square / count - 1) < 6e-3);
  // Eight uniform bytes: the excess kurtosis of one is -1.2, so -0.15 of their sum.
  CHECK(fourth / count == doctest::Approx(2.85).epsilon(0.01));
  CHECK(std::abs(product / count) < 4e-3);
  CHECK(largest < 6);
}

TEST_CASE("noise of neighbouring seeds and indices differs") {
  int equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i)
    equal += (noise_bits(1, i) == noise_bits(2, i) ? 1 : 0) +
             (noise_bits(1, i) == noise_bits(1, i + 1) ? 1 : 0) +
             (noise_bits(i, 1) == noise_bits(1, i) && i != 1 ? 1 : 0);
  CHECK(equal == 0);
}
