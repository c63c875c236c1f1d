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

TEST_CASE("a bill stands for the time and the steps since the one before") {
  StepBills bills;
  // One step of 4 s, then nine steps of 16 s in all that look like the last of them.
  bills.add(bill(3, 1), {}, 0.5, 4, 1);
  bills.add(bill(1, 1, 2.5), {0, std::log(2.0)}, 0.25, 20, 10);
  const StepTimes t = bills.totals(20, 10);
  REQUIRE(t.operators.size() == 2);
  CHECK(t.operators[0].name == "gemm");
  CHECK(t.operators[0].seconds == doctest::Approx(3 + 8));
  CHECK(t.operators[1].seconds == doctest::Approx(1 + 8));
  CHECK(t.operators[0].calls == doctest::Approx(10 + 90));
  CHECK(t.operators[1].calls == doctest::Approx(2 + 18));
  CHECK(t.by_binds[static_cast<std::size_t>(cost::Binds::compute)] == doctest::Approx(11));
  CHECK(t.by_source[static_cast<std::size_t>(cost::Source::measured)] == doctest::Approx(9));
  CHECK(t.outside_s == doctest::Approx(8));
  CHECK(t.octaves_outside == 2.5);
  CHECK(t.full_load_s == doctest::Approx(0.5 * 4 + 0.25 * 16));
  CHECK(t.low_ratio == 1);
  CHECK(t.high_ratio == doctest::Approx((4 * 1 + 16 * 2) / 20.0));
}

TEST_CASE("time after the last bill is split like all before it") {
  StepBills bills;
  bills.add(bill(3, 1), {}, 0.5, 4, 1);
  const StepTimes t = bills.totals(10, 4);
  CHECK(t.operators[0].seconds == doctest::Approx(7.5));
  CHECK(t.operators[1].seconds == doctest::Approx(2.5));
  CHECK(t.operators[0].calls == doctest::Approx(40));
  double sum = 0;
  for (const double part : t.by_source) sum += part;
  CHECK(sum == doctest::Approx(10));
}

TEST_CASE("a bill without operators says nothing") {
  StepBills bills;
  bills.add({}, {}, 0.5, 4, 1);
  const StepTimes t = bills.totals(4, 1);
  CHECK(t.operators.empty());
  CHECK(t.high_ratio == 1);
}
