#include "calibrate/serving/serving_summary.h"
#include "random/stream.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

// Runs whose logarithmic error is normal with the spread of kernels and discrepancy together.
std::vector<ServedFigure> noisy(double kernels, double discrepancy, double bias = 0) {
  random::Stream stream(5, "serving summary");
  std::vector<ServedFigure> out;
  for (int i = 0; i < 4000; ++i) {
    const double z = bias + std::hypot(kernels, discrepancy) * stream.normal();
    out.push_back({"e2e_tpot", "closed loop", fmt::format("group {}", i % 20), 0.02,
                   0.02 * std::exp(z), kernels});
  }
  return out;
}

}  // namespace

TEST_CASE("A planted discrepancy is found and nine in ten of the other half lie inside") {
  for (const auto& [kernels, discrepancy] :
       {std::pair(0.1, 0.12), std::pair(0.05, 0.3), std::pair(0.2, 0.15)}) {
    const std::vector<ServingSummary> all = summarise_serving(noisy(kernels, discrepancy));
    REQUIRE(all.size() == 1);
    CHECK(all[0].n == 4000);
    CHECK(all[0].discrepancy == doctest::Approx(discrepancy).epsilon(0.1));
    REQUIRE(all[0].coverage_90);
    CHECK(*all[0].coverage_90 == doctest::Approx(0.9).epsilon(0.025));
  }
}

TEST_CASE("Kernels that err less than they say leave no discrepancy and cover more") {
  std::vector<ServedFigure> figures = noisy(0.05, 0);
  for (ServedFigure& f : figures) f.kernel_sigma = 0.1;
  const ServingSummary s = summarise_serving(figures).at(0);
  CHECK(s.discrepancy == 0);
  CHECK(*s.coverage_90 > 0.99);
}

TEST_CASE("Bias and median error are those of the figures") {
  const std::vector<ServedFigure> figures{{"e2e_ttft", "closed loop", "a", 1, 1.1, 0.1},
                                          {"e2e_ttft", "closed loop", "b", 1, 1.3, 0.1},
                                          {"e2e_ttft", "closed loop", "c", 1, 0.95, 0.1},
                                          {"e2e_tpot", "offline", "a", 2, 1.8, 0.1}};
  const std::vector<ServingSummary> all = summarise_serving(figures);
  REQUIRE(all.size() == 2);
  const ServingSummary& loop = all[0].part == "offline" ? all[1] : all[0];
  const ServingSummary& offline = all[0].part == "offline" ? all[0] : all[1];
  CHECK(loop.n == 3);
  CHECK(loop.median_ape == doctest::Approx(0.1));
  CHECK(loop.bias == doctest::Approx(0.1));
  CHECK(loop.within_20 == doctest::Approx(2.0 / 3));
  CHECK(offline.bias == doctest::Approx(-0.1));
  // With one group there is no other half to judge.
  CHECK_FALSE(offline.coverage_90);
}

TEST_CASE("Coverage is judged on groups that the discrepancy was not fitted to") {
  // Even groups are exact, odd ones far off.
  std::vector<ServedFigure> figures;
  for (int i = 0; i < 40; ++i)
    figures.push_back(
        {"e2e_tpot", "closed loop", fmt::format("g{}", i % 2), 1, i % 2 ? 2.0 : 1.0, 0.05});
  const ServingSummary s = summarise_serving(figures).at(0);
  CHECK(s.discrepancy == 0);
  CHECK(*s.coverage_90 == 0);
}
