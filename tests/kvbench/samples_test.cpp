#include "kernels/bench/samples.h"

#include <doctest/doctest.h>

using namespace kvsim::kernels::bench;

TEST_CASE("a replay takes 2 to 20 ms for every time that allows it") {
  for (double us = 2; us < 6500; us *= 1.3) {
    const ReplayPlan plan = plan_replay(us, 3);
    CAPTURE(us);
    CHECK(plan.launches * us >= 2000);
    CHECK(plan.launches * us <= 20000);
  }
}

TEST_CASE("a replay goes through every set equally often") {
  for (const int sets : {1, 3, 7, 240})
    for (double us = 1; us < 400; us *= 1.7) {
      const ReplayPlan plan = plan_replay(us, sets);
      CHECK(plan.covers_sets);
      CHECK(plan.launches % sets == 0);
    }
}

TEST_CASE("a replay that would take longer than a tenth of a second leaves sets out and says so") {
  const ReplayPlan plan = plan_replay(50e3, 100);
  CHECK_FALSE(plan.covers_sets);
  CHECK(plan.launches == 2);
  CHECK(plan_replay(1e7, 3).launches == 1);
}

TEST_CASE("thirty replays or a quarter of a second and few of what is slow") {
  CHECK(plan_samples(2e3) == 30);
  CHECK(plan_samples(25e3) == 10);
  CHECK(plan_samples(400e3) == 3);
  CHECK(plan_samples(1e6) == 1);
}

TEST_CASE("quantiles are interpolated between sorted samples") {
  const Times t = times_of({5, 1, 4, 2, 3});
  CHECK(t.median == 3);
  CHECK(t.p10 == doctest::Approx(1.4));
  CHECK(t.p90 == doctest::Approx(4.6));
  CHECK(t.n == 5);
  CHECK(times_of({7}).p90 == 7);
}
