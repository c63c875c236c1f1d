#include "metrics/distribution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "metrics/gap_samples.h"

using namespace kvsim;
using namespace kvsim::metrics;

namespace {

const std::vector<double> levels{0, 1, 25, 50, 90, 95, 99, 99.9, 100};

// numpy.percentile(method="linear") from its definition, on a sorted list.
double naive_percentile(const std::vector<double>& sorted, double level) {
  const double at = level / 100 * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - std::floor(at));
}

struct Naive {
  double mean = 0, std = 0;
  std::vector<double> sorted;
};
Naive naive(std::vector<double> samples) {
  Naive out;
  for (const double x : samples) out.mean += x / static_cast<double>(samples.size());
  for (const double x : samples)
    out.std += (x - out.mean) * (x - out.mean) / static_cast<double>(samples.size());
  out.std = std::sqrt(out.std);
  std::sort(samples.begin(), samples.end());
  out.sorted = std::move(samples);
  return out;
}

void check_against(const Distribution& got, const std::vector<double>& samples) {
  const Naive want = naive(samples);
  CHECK(got.mean == doctest::Approx(want.mean).epsilon(1e-12));
  CHECK(got.std == doctest::Approx(want.std).epsilon(1e-9));
  CHECK(got.median == doctest::Approx(naive_percentile(want.sorted, 50)).epsilon(1e-12));
  for (std::size_t i = 0; i < levels.size(); ++i) {
    CHECK(got.percentiles[i] ==
          doctest::Approx(naive_percentile(want.sorted, levels[i])).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("percentiles by hand - four samples") {
  std::vector<double> samples{40, 10, 30, 20};
  const Distribution d = describe(samples, std::vector<double>{0, 25, 50, 90, 100});
  CHECK(d.percentiles == std::vector<double>{10, 17.5, 25, 37, 40});
  CHECK(d.mean == 25);
  CHECK(d.median == 25);
  CHECK(d.std == doctest::Approx(11.180339887498949));
}

TEST_CASE("one sample is every percentile") {
  std::vector<double> samples{7};
  const Distribution d = describe(samples, levels);
  for (const double p : d.percentiles) CHECK(p == 7);
  CHECK(d.std == 0);
}

TEST_CASE("no samples are all zeros") {
  std::vector<double> none;
  const Distribution d = describe(none, levels);
  CHECK(d.mean == 0);
  CHECK(d.percentiles == std::vector<double>(levels.size(), 0.0));
}

TEST_CASE("any samples agree with the definition") {
  std::mt19937_64 bits(1);
  for (const std::size_t n : std::vector<std::size_t>{2, 3, 10, 101, 1000}) {
    std::vector<double> samples;
    for (std::size_t i = 0; i < n; ++i) samples.push_back(static_cast<double>(bits() % 1000) / 7);
    const std::vector<double> copy = samples;
    CAPTURE(n);
    check_against(describe(samples, levels), copy);
  }
}

TEST_CASE("gaps by pair agree with the list they stand for") {
  std::mt19937_64 bits(2);
  for (const int steps : {1, 2, 17, 500, 20'000}) {
    GapSamples gaps;
    std::vector<double> expanded;
    for (int i = 0; i < steps; ++i) {
      // Few distinct gaps, so that merging has something to do; some counts are 0.
      const auto gap = static_cast<std::int64_t>(bits() % 300) * 100'000;
      const auto count = static_cast<std::int64_t>(bits() % 5);
      gaps.add(Duration(gap), count);
      for (std::int64_t k = 0; k < count; ++k) expanded.push_back(static_cast<double>(gap) / 1e6);
    }
    CAPTURE(steps);
    CHECK(gaps.count() == static_cast<std::int64_t>(expanded.size()));
    if (!expanded.empty()) check_against(gaps.describe_ms(levels), expanded);
  }
}

TEST_CASE("memory of gaps is in the number of distinct ones") {
  GapSamples gaps;
  for (int i = 0; i < 1'000'000; ++i) gaps.add(Duration(1000 + i % 50), 64);
  CHECK(gaps.count() == 64'000'000);
  CHECK(gaps.pairs() <= 4096);
}

TEST_CASE("a sum of gaps beyond 64 bits is exact") {
  GapSamples gaps;
  gaps.add(Duration(9'000'000'000'000'000'000), 5);
  const Distribution d = gaps.describe_ms(levels);
  CHECK(d.mean == doctest::Approx(9e12));
  CHECK(d.std == 0);
}

TEST_CASE("interpolation ends exactly on its ends") {
  CHECK(interpolate(0.1, 0.7, 0) == 0.1);
  CHECK(interpolate(0.1, 0.7, 1) == 0.7);
}

TEST_CASE("levels are named as vLLM names them") {
  CHECK(percentile_word(50) == "50");
  CHECK(percentile_word(99.9) == "99.9");
}
