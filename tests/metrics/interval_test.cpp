#include "metrics/interval.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace kvsim::metrics;

namespace {

Summary summary(double ttft, double throughput) {
  Summary s;
  s.duration = 10;
  s.output_throughput = throughput;
  s.offered_rate = 3;
  s.ttft_ms = {ttft, ttft, 1, {ttft, ttft, ttft, 2 * ttft}};
  for (Distribution* d : {&s.tpot_ms, &s.itl_ms, &s.e2el_ms}) d->percentiles.assign(4, 0);
  return s;
}

}  // namespace

TEST_CASE("the quantile of Student agrees with printed tables") {
  // NIST/SEMATECH e-Handbook, table of critical values, column 0.95.
  const std::vector<std::pair<int, double>> table{{1, 6.314},  {2, 2.920},  {5, 2.015},
                                                  {10, 1.812}, {11, 1.796}, {15, 1.753},
                                                  {30, 1.697}, {99, 1.660}};
  for (const auto& row : table) {
    INFO(row.first);
    CHECK(student_t(row.first) == doctest::Approx(row.second).epsilon(0.002));
  }
}

TEST_CASE("ends are the least and the largest of the runs whichever way a figure goes") {
  Summary s = summary(100, 50);
  const std::vector<Figures> ends{summary(90, 52), summary(260, 30)};
  set_bounds(s, ends, {});
  CHECK(s.low->ttft_ms.mean == 90);
  CHECK(s.high->ttft_ms.mean == 260);
  CHECK(s.high->ttft_ms.percentiles[3] == 520);
  CHECK(s.low->output_throughput == 30);
  CHECK(s.high->output_throughput == 52);
  CHECK(s.low->duration == 10);
  CHECK(s.high->duration == 10);
  CHECK(s.low->offered_rate == 3);

  // Both runs on one side: the figure itself is an end.
  Summary odd = summary(100, 50);
  const std::vector<Figures> above{summary(120, 60), summary(110, 55)};
  set_bounds(odd, above, {});
  CHECK(odd.low->ttft_ms.mean == 100);
  CHECK(odd.high->ttft_ms.mean == 120);
}

TEST_CASE("without other runs the ends are the figures") {
  Summary s = summary(100, 50);
  set_bounds(s, {}, {});
  CHECK(s.low->ttft_ms.percentiles == s.ttft_ms.percentiles);
  CHECK(s.high->output_throughput == 50);
  CHECK(!s.low->request_goodput);
}

TEST_CASE("what seeds differ by is added in quadrature to what step times do") {
  // 100, 104 and 96: mean 100, sample deviation 4, two degrees of freedom.
  const double error = 2.92 * 4;
  Summary s = summary(100, 50);
  const std::vector<Figures> seeds{summary(104, 50), summary(96, 50)};
  set_bounds(s, {}, seeds);
  CHECK(s.low->ttft_ms.mean == doctest::Approx(100 - error));
  CHECK(s.high->ttft_ms.mean == doctest::Approx(100 + error));
  CHECK(s.low->output_throughput == 50);

  const std::vector<Figures> ends{summary(95, 50), summary(130, 50)};
  set_bounds(s, ends, seeds);
  CHECK(s.low->ttft_ms.mean == doctest::Approx(100 - std::sqrt(5 * 5 + error * error)));
  CHECK(s.high->ttft_ms.mean == doctest::Approx(100 + std::sqrt(30 * 30 + error * error)));

  // A figure of time or rate does not fall below zero.
  Summary small = summary(1, 50);
  const std::vector<Figures> wide{summary(9, 50)};
  set_bounds(small, {}, wide);
  CHECK(small.low->ttft_ms.mean == 0);
}

TEST_CASE("a figure that one run lacks has no ends") {
  Summary s = summary(100, 50);
  std::vector<Figures> ends{summary(90, 52), summary(260, 30)};
  ends[1].offered_rate.reset();
  set_bounds(s, ends, {});
  CHECK(!s.low->offered_rate);
  CHECK(!s.high->offered_rate);
  CHECK(s.offered_rate == 3);
  CHECK(s.high->ttft_ms.mean == 260);
}
