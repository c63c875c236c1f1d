#include "metrics/time_series.h"

#include <doctest/doctest.h>

#include <random>

#include "metrics/histogram.h"
#include "metrics/second_buckets.h"

using namespace kvsim;
using namespace kvsim::metrics;

namespace {

Time at(double s) { return Time(to_duration(s).value()); }
Duration span(double s) { return to_duration(s); }

template <class Series>
double integral(const Series& series, double end_s) {
  double sum = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double begin = static_cast<double>(i) * to_seconds(series.width());
    sum += series.mean(i)[0] * (std::min(begin + to_seconds(series.width()), end_s) - begin);
  }
  return sum;
}

}  // namespace

TEST_CASE("a bucket holds the time weighted mean of what fell into it") {
  TimeSeries<1> series(span(1));
  series.add(at(0), at(0.25), {4});
  series.add(at(0.25), at(1), {0});
  series.add(at(1), at(3), {2});
  REQUIRE(series.size() == 3);
  CHECK(series.mean(0)[0] == 1);
  CHECK(series.mean(1)[0] == 2);
  CHECK(series.mean(2)[0] == 2);
}

TEST_CASE("the last bucket is averaged over the time that has passed") {
  TimeSeries<1> series(span(1));
  series.add(at(0), at(1.5), {6});
  CHECK(series.mean(1)[0] == 6);
}

TEST_CASE("buckets double and keep their integral however long the run") {
  std::mt19937_64 bits(3);
  TimeSeries<1> series(span(0.001));
  double now = 0, want = 0;
  for (int i = 0; i < 5000; ++i) {
    const double next = now + static_cast<double>(bits() % 1000 + 1) / 1000;
    const double value = static_cast<double>(bits() % 100);
    series.add(at(now), at(next), {value});
    want += value * (next - now);
    now = next;
  }
  CHECK(series.size() <= TimeSeries<1>::limit);
  CHECK(series.size() > TimeSeries<1>::limit / 4);
  CHECK(integral(series, now) == doctest::Approx(want));
  series.fit(20);
  CHECK(series.size() <= 20);
  CHECK(integral(series, now) == doctest::Approx(want));
}

TEST_CASE("a pause of years costs no more memory") {
  TimeSeries<1> series(span(0.001));
  series.add(at(0), at(1), {1});
  series.add(at(1), at(3e9), {0});
  CHECK(series.size() <= TimeSeries<1>::limit);
}

TEST_CASE("concurrency counts a request in every second that it touches") {
  SecondBuckets seconds;
  seconds.active(span(0), span(1));       // seconds 0 and 1
  seconds.active(span(1.9), span(1.95));  // second 1
  seconds.active(span(2), span(2.5));     // second 2
  CHECK(seconds.max_active() == 2);
}

TEST_CASE("concurrency across chunks agrees with counting") {
  std::mt19937_64 bits(4);
  SecondBuckets seconds;
  std::vector<int> count(20'000, 0);
  for (int i = 0; i < 300; ++i) {
    const auto from = bits() % 15'000, length = bits() % 5'000;
    seconds.active(Duration(static_cast<std::int64_t>(from) * ns_per_second),
                   Duration(static_cast<std::int64_t>(from + length) * ns_per_second));
    for (auto s = from; s <= from + length; ++s) ++count[s];
  }
  CHECK(seconds.max_active() == *std::max_element(count.begin(), count.end()));
}

TEST_CASE("tokens of a distant second are found") {
  SecondBuckets seconds;
  seconds.tokens(span(0.5), 3);
  seconds.tokens(span(1e6), 2);
  seconds.tokens(span(1e6 + 0.9), 4);
  CHECK(seconds.max_tokens() == 6);
}

TEST_CASE("a value on an edge belongs below it") {
  const std::vector<double> edges{1, 2};
  Histogram h("h", edges);
  for (const double x : {0.5, 1.0, 1.5, 2.0, 3.0}) h.add(x);
  CHECK(h.counts == std::vector<std::int64_t>{2, 2});
  CHECK(h.count == 5);
  CHECK(h.sum == 8);
}
