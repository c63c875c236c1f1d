#include "calibrate/predict/neighbours.h"

#include <doctest/doctest.h>

#include <cmath>

using kvsim::calibrate::Neighbours;
using kvsim::cost::Features;

TEST_CASE("A point that was measured answers for itself unless it is left out") {
  const Neighbours n({{0, 0}, {4, 0}, {8, 0}}, {0.1, 0.5, -0.2}, 2);
  CHECK(n.log_ratio({4, 0}) == doctest::Approx(0.5).epsilon(0.01));
  // Left out, its neighbours four octaves away are too far to say anything.
  CHECK(n.log_ratio({4, 0}, 1) == 0);
}

TEST_CASE("Between two points the correction is the mean by inverse squared distance") {
  const Neighbours n({{0, 0}, {1, 0}}, {0.0, 0.3}, 2);
  const double a = 1 / 0.0625, b = 1 / 0.5625;
  CHECK(n.log_ratio({0.25, 0}) == doctest::Approx((b * 0.3) / (a + b)).epsilon(0.01));
}

TEST_CASE("The correction fades from one octave to two and stays within its points") {
  const Neighbours n({{0, 0}}, {0.4}, 1);
  CHECK(n.log_ratio({1, 0}) == doctest::Approx(0.4));
  CHECK(n.log_ratio({1.5, 0}) == doctest::Approx(0.2));
  CHECK(n.log_ratio({2, 0}) == 0);
  CHECK(n.log_ratio({7, 0}) == 0);
  CHECK(Neighbours({}, {}, 1).log_ratio({0}) == 0);
}

TEST_CASE("Of many points only the eight nearest count") {
  std::vector<Features> at;
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) at.push_back({0.01 * i}), values.push_back(i < 8 ? 0.1 : 5.0);
  const Neighbours n(at, values, 1);
  CHECK(n.log_ratio({0}) == doctest::Approx(0.1));
  CHECK(n.look({0}).median == 0.1);
  CHECK(n.look({0}).points == 8);
  CHECK(n.look({-1}).distance == doctest::Approx(1));
}
