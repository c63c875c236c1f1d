#include <doctest/doctest.h>

#include <vector>

#include "planner/feasible.h"
#include "property/pinned.h"

// What `plan` answers, against asking the same rules in another way.

using namespace kvsim;
using namespace kvsim::planner;

TEST_CASE("ranges of lengths agree with asking for every length") {
  KVSIM_PROPERTY("where no run is shorter than the resolution, every boundary is exact", [] {
    const auto limit = *rc::gen::inRange<std::int64_t>(1, 400);
    const auto step = *rc::gen::inRange<std::int64_t>(1, 40);
    const auto width = *rc::gen::inRange<std::int64_t>(step, 120);
    const auto first = *rc::gen::inRange<std::int64_t>(0, 200);
    const auto starts = [&](std::int64_t n) { return ((n + first) / width) % 2 == 0; };
    std::vector<LengthRange> expected;
    for (std::int64_t n = 1; n <= limit; ++n) {
      if (!starts(n)) continue;
      if (!expected.empty() && expected.back().last == n - 1)
        expected.back().last = n;
      else
        expected.push_back({n, n});
    }
    RC_ASSERT(ranges_where(limit, step, {}, starts) == expected);
  });
}
