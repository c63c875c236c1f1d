#include "random/stream.h"

#include <bit>
#include <cmath>
#include <limits>

namespace kvsim::random {
namespace {

constexpr double ln2_high = 6.93147180369123816490e-01;  // fdlibm's split of ln 2
constexpr double ln2_low = 1.90821492927058770002e-10;

// 2^k for k in the normal exponent range.
double power_of_two(int k) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52);
}

}  // namespace

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9e3779b97f4a7c15ULL * (b + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

std::uint64_t hash_name(std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix(h, name.size());
}

// log x = k ln 2 + log m with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh(s), s = (m-1)/(m+1).
double portable_log(double x) {
  int k = 0;
  auto bits = std::bit_cast<std::uint64_t>(x);
  if (bits < (1ULL << 52)) {  // subnormal: scale up first
    x *= 0x1p54;
    bits = std::bit_cast<std::uint64_t>(x);
    k = -54;
  }
  k += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL);
  if (m > 1.4142135623730951) m *= 0.5, ++k;
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double series = 0;
  for (int i = 21; i >= 3; i -= 2) series = s2 * (1.0 / i + series);
  const double log_m = 2 * s + 2 * s * series;
  return k * ln2_high + (log_m + k * ln2_low);
}

// exp x = 2^k exp(r), r = x - k ln 2 in [-0.35, 0.35], exp(r) by its series in Horner form.
double portable_exp(double x) {
  if (x < -700) return 0;
  if (x > 709) return std::numeric_limits<double>::infinity();
  const double k = std::floor(x / (ln2_high + ln2_low) + 0.5);
  const double r = (x - k * ln2_high) - k * ln2_low;
  double series = 1;
  for (int i = 16; i >= 1; --i) series = 1 + r / i * series;
  return series * power_of_two(static_cast<int>(k));
}

Stream::Stream(std::uint64_t seed, std::string_view name, std::uint64_t index)
    : engine_(mix(mix(seed, hash_name(name)), index)) {}

double Stream::uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

std::int64_t Stream::uniform_integer(std::int64_t low, std::int64_t high) {
  const std::uint64_t range =
      static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  if (range == 0) return static_cast<std::int64_t>(engine_());
  const std::uint64_t limit = (0 - range) % range;  // 2^64 mod range: reject below it
  std::uint64_t draw = engine_();
  while (draw < limit) draw = engine_();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + draw % range);
}

double Stream::exponential(double mean) { return -mean * portable_log(1.0 - uniform()); }

// Marsaglia's polar method: rejection needs log and sqrt only. The second value is not kept, so a
// stream's state is its engine alone.
double Stream::normal() {
  for (;;) {
    const double u = 2 * uniform() - 1;
    const double v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * portable_log(s) / s);
  }
}

double Stream::lognormal(double mu, double sigma) { return portable_exp(mu + sigma * normal()); }

double Stream::gamma(double shape, double scale) {
  if (shape < 1) {  // boost: gamma(a) = gamma(a + 1) * U^(1/a)
    const double u = 1.0 - uniform();
    return gamma(shape + 1, scale) * portable_exp(portable_log(u) / shape);
  }
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double t = 1.0 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = 1.0 - uniform();
    if (portable_log(u) < 0.5 * x * x + d - d * v + d * portable_log(v)) return d * v * scale;
  }
}

}  // namespace kvsim::random
