#include <doctest/doctest.h>

#include "metrics/recorder.h"
#include "support/allocations.h"

using namespace kvsim;
using namespace kvsim::metrics;

TEST_CASE("a steady step allocates nothing") {
  Recorder recorder({});
  recorder.arrived(0, Time(std::int64_t{0}));
  const std::size_t before = testing::allocations();
  // 2,000 s of steps, each with a gap of its own at first and repeating ones after: the first are
  // fewer than the buffer holds.
  std::int64_t now = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Duration step(20'000'000 + i % 1000);
    now += step.value();
    recorder.gap(step, 63);
    recorder.output_tokens(Time(now), 64);
    recorder.engine_state(0, Time(now), 1, 64, 3);
    recorder.evicted(0, Time(now), 2);
  }
  CHECK(testing::allocations() == before);
}
