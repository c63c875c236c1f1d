#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "kernels/cascade/family.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

namespace {

bool is(const testing::Outcome& o, const char* variant) {
  return o.id.find(variant) != std::string::npos;
}

}  // namespace

TEST_CASE("cascade decode matches attention in double on the edge cases") {
  double worst = 0;
  for (const auto& o : testing::expect_all_pass(cascade_edge_cases()))
    worst = std::max(worst, o.check.rel_l2);
  MESSAGE("largest relative error " << worst);
}

TEST_CASE(
    "a cascade reads its prefix once per 64 rows and decode without sharing once per sequence") {
  constexpr double row = 4.0 * 128;  // key and value of a token, or the sums of a partial
  for (const int sequences : {16, 17, 33}) {
    const std::vector<int> suffixes(static_cast<std::size_t>(sequences), 32);
    const double rows = sequences * 4, passes = (sequences * 4 + 63) / 64;
    for (const auto& o : testing::run_one(make_cascade_problem(
             {.suffixes = suffixes, .prefix = 512, .prefix_splits = 1, .suffix_splits = 1}))) {
      CAPTURE(o.id);
      const auto total = static_cast<double>(o.touched.total_read);
      if (is(o, "naive")) {
        CHECK(total >= rows * (512 + 32) * row);
      } else if (is(o, "unshared")) {
        const double once = sequences * (512 + 32) * row + rows * 2 * 128;
        CHECK(total >= once);
        CHECK(total <= 1.03 * once);
      } else {
        // Queries for the prefix, and for the suffix by each of four warps; two partials of each
        // row, whose m and l all lanes of a warp load.
        const double own =
            sequences * 32 * row + rows * 5 * 2 * 128 + rows * 2 * (row + 4 + 2 * 32 * 4);
        CAPTURE((total - own) / (512 * row));
        CHECK(total >= passes * 512 * row + own);
        CHECK(total <= 1.03 * (passes * 512 * row + own));
        // Beyond the floor there are the partials only, written and read.
        CHECK(o.unique_bytes() == o.floor.bytes + 2 * 2 * rows * (row + 8));
      }
    }
  }
}

TEST_CASE("a cascade without a prefix touches exactly its floor in bytes") {
  for (const auto& o :
       testing::run_one(make_cascade_problem({.suffixes = {70, 16, 0, 200}, .suffix_splits = 1}))) {
    CAPTURE(o.id);
    CHECK(o.unique_bytes() == o.floor.bytes);
  }
}

TEST_SUITE("quick") {
  TEST_CASE("cascade decode passes its quick cases under permuted schedules") {
    for (const std::uint64_t seed : testing::schedule_seeds())
      testing::expect_all_pass(cascade_quick_cases(), {.schedule_seed = seed, .data_seed = seed});
  }
}
