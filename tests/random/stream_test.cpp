#include "random/stream.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <vector>

using namespace kvsim::random;

namespace {

// Distance in units in the last place between two doubles of one sign.
double ulps(double got, double want) {
  if (got == want) return 0;
  const double step = std::abs(std::nextafter(want, HUGE_VAL) - want);
  return std::abs(got - want) / step;
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments moments(int n, const std::function<double()>& draw) {
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double x = draw();
    sum += x, squares += x * x;
  }
  const double mean = sum / n;
  return {mean, squares / n - mean * mean};
}

}  // namespace

TEST_CASE("the logarithm is within 2 ulp of libm over the whole range") {
  double worst = 0;
  Stream s(1, "log");
  for (int i = 0; i < 400'000; ++i) {
    const double x = std::bit_cast<double>(s.bits() % 0x7ff0000000000000ULL);
    if (x == 0) continue;
    worst = std::max(worst, ulps(portable_log(x), std::log(x)));
  }
  for (int i = 1; i < 400'000; ++i) {  // where samplers use it: (0, 4)
    const double x = i * 1e-5;
    worst = std::max(worst, ulps(portable_log(x), std::log(x)));
  }
  for (int i = 1; i < 2000; ++i) {  // around one, where the result vanishes
    worst = std::max(worst, ulps(portable_log(1 + i * 0x1p-52), std::log(1 + i * 0x1p-52)));
    worst = std::max(worst, ulps(portable_log(1 - i * 0x1p-53), std::log(1 - i * 0x1p-53)));
  }
  CHECK(worst <= 2);
  CHECK(portable_log(1) == 0);
}

TEST_CASE("the exponential is within 2 ulp of libm and saturates at the ends") {
  double worst = 0;
  for (int i = -699'999; i < 700'000; ++i)
    worst = std::max(worst, ulps(portable_exp(i * 1e-3), std::exp(i * 1e-3)));
  for (int i = -100'000; i < 100'000; ++i)
    worst = std::max(worst, ulps(portable_exp(i * 1e-5), std::exp(i * 1e-5)));
  CHECK(worst <= 2);
  CHECK(portable_exp(0) == 1);
  CHECK(portable_exp(-1e9) == 0);
  CHECK(std::isinf(portable_exp(710)));
  CHECK(std::isinf(portable_exp(1e300)));
}

TEST_CASE("every sampler has the moments of its distribution") {
  const int n = 200'000;
  Stream s(7, "moments");
  auto m = moments(n, [&] { return s.uniform(); });
  CHECK(m.mean == doctest::Approx(0.5).epsilon(0.005));
  CHECK(m.variance == doctest::Approx(1.0 / 12).epsilon(0.01));
  m = moments(n, [&] { return static_cast<double>(s.uniform_integer(-3, 8)); });
  CHECK(m.mean == doctest::Approx(2.5).epsilon(0.01));
  CHECK(m.variance == doctest::Approx((144.0 - 1) / 12).epsilon(0.01));
  m = moments(n, [&] { return s.exponential(4); });
  CHECK(m.mean == doctest::Approx(4).epsilon(0.01));
  CHECK(m.variance == doctest::Approx(16).epsilon(0.03));
  m = moments(n, [&] { return s.normal(); });
  CHECK(std::abs(m.mean) < 0.01);
  CHECK(m.variance == doctest::Approx(1).epsilon(0.01));
  m = moments(n, [&] { return s.lognormal(1, 0.5); });
  CHECK(m.mean == doctest::Approx(std::exp(1 + 0.125)).epsilon(0.01));
  for (const double shape : {0.3, 1.0, 4.5}) {
    CAPTURE(shape);
    m = moments(n, [&] { return s.gamma(shape, 2); });
    CHECK(m.mean == doctest::Approx(2 * shape).epsilon(0.02));
    CHECK(m.variance == doctest::Approx(4 * shape).epsilon(0.04));
  }
}

TEST_CASE("uniform integers reach both ends and cover the full range") {
  Stream s(3, "ends");
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const auto x = s.uniform_integer(5, 9);
    REQUIRE(x >= 5);
    REQUIRE(x <= 9);
    low |= x == 5, high |= x == 9;
  }
  CHECK(low);
  CHECK(high);
  CHECK(s.uniform_integer(4, 4) == 4);
  bool negative = false;
  for (int i = 0; i < 64; ++i) negative |= s.uniform_integer(INT64_MIN, INT64_MAX) < 0;
  CHECK(negative);
}

TEST_CASE("streams of another name and index or seed are uncorrelated") {
  const int n = 50'000;
  const auto correlation = [&](Stream a, Stream b) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += (a.uniform() - 0.5) * (b.uniform() - 0.5);
    return sum / n * 12;
  };
  CHECK(std::abs(correlation(Stream(1, "a"), Stream(1, "b"))) < 0.02);
  CHECK(std::abs(correlation(Stream(1, "a", 0), Stream(1, "a", 1))) < 0.02);
  CHECK(std::abs(correlation(Stream(1, "a"), Stream(2, "a"))) < 0.02);
  CHECK(correlation(Stream(1, "a", 5), Stream(1, "a", 5)) == doctest::Approx(1).epsilon(0.02));
}

TEST_CASE("first draws over consecutive indices are spread evenly") {
  int bins[16] = {};
  for (std::uint64_t i = 0; i < 16'000; ++i)
    ++bins[static_cast<int>(Stream(9, "arrival", i).uniform() * 16)];
  for (const int count : bins) {
    CHECK(count > 850);
    CHECK(count < 1150);
  }
}

// These figures are part of every result that kvsim prints: a change here changes all golden
// results.
TEST_CASE("each sampler gives the bytes it has always given") {
  const auto bits = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  CHECK(mix(1, 2) == 0xf893a2eefb32555e);
  CHECK(hash_name("arrival") == 0x62259dc0a257dd54);
  Stream s(42, "golden", 7);
  CHECK(s.bits() == 0x8f45fe2096f88682);
  CHECK(bits(s.uniform()) == 0x3fdfea6168ee7cb6);
  CHECK(s.uniform_integer(-10, 1000000) == 341775);
  CHECK(bits(s.exponential(2.5)) == 0x3ff438a6e5ca97a6);
  CHECK(bits(s.normal()) == 0x3f94d341e7a805dd);
  CHECK(bits(s.lognormal(5, 1.2)) == 0x408560107efbf3a0);
  CHECK(bits(s.gamma(3, 0.5)) == 0x3fe43e6e6eb4c798);
  CHECK(bits(s.gamma(0.4, 2)) == 0x3fcfdfe55ae00547);
}
