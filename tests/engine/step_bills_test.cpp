#include "engine/step_bills.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace kvsim;
using namespace kvsim::engine;

namespace {

cost::StepBill bill(double gemm, double attention, double octaves = 0) {
  cost::StepBill b;
  b.operators.push_back(
      {"gemm", gemm, 0, 0, 10, cost::Binds::compute, cost::Source::fitted, octaves});
  b.operators.push_back(
      {"attention", attention, 0, 0, 2, cost::Binds::memory_bandwidth, cost::Source::measured, 0});
  return b;
}

}  // namespace

TEST_CASE("bills count with their own time and are scaled to all of it") {
  StepBills bills;
  // A step of 4 s and one of 2 s were sampled of 20 steps that took 60 s in all.
  bills.add(bill(3, 1), {}, 0.5, 1);
  bills.add(bill(1, 1, 2.5), {0, std::log(2.0)}, 0.25, 2);
  const StepTimes t = bills.totals(60, 20);
  REQUIRE(t.operators.size() == 2);
  CHECK(t.operators[0].name == "gemm");
  CHECK(t.operators[0].seconds == doctest::Approx(40));
  CHECK(t.operators[1].seconds == doctest::Approx(20));
  CHECK(t.operators[0].calls == doctest::Approx(200));
  CHECK(t.operators[1].calls == doctest::Approx(40));
  CHECK(t.by_binds[static_cast<std::size_t>(cost::Binds::compute)] == doctest::Approx(40));
  CHECK(t.by_source[static_cast<std::size_t>(cost::Source::measured)] == doctest::Approx(20));
  CHECK(t.outside_s == doctest::Approx(10));
  CHECK(t.octaves_outside == 2.5);
  CHECK(t.full_load_s == doctest::Approx(10 * (0.5 * 4 + 0.25 * 2)));
  CHECK(t.low_ratio == 1);
  CHECK(t.high_ratio == doctest::Approx((4 * 1 + 2 * 2) / 6.0));
}

TEST_CASE("a rare long step has the share of time that it has") {
  // 600 steps of 1 s and 10 of 40 s; every fifth of either kind is sampled.
  StepBills bills;
  for (int i = 1; i <= 120; ++i) bills.add(bill(0, 1), {}, 0, 5 * i);
  for (int i = 121; i <= 122; ++i) bills.add(bill(40, 0), {}, 0, 5 * i);
  const StepTimes t = bills.totals(1000, 610);
  CHECK(t.operators[0].seconds == doctest::Approx(400));
  CHECK(t.operators[1].seconds == doctest::Approx(600));
}

TEST_CASE("a bill without operators says nothing") {
  StepBills bills;
  bills.add({}, {}, 0.5, 1);
  const StepTimes t = bills.totals(4, 1);
  CHECK(t.operators.empty());
  CHECK(t.high_ratio == 1);
}
