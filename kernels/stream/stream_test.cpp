#include <doctest/doctest.h>

#include "kernels/stream/family.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

TEST_CASE("stream kernels match their reference on the edge cases and touch exactly their floor") {
  for (const auto& outcome : testing::expect_all_pass(stream_edge_cases())) {
    CAPTURE(outcome.id);
    const auto& touched = outcome.touched;
    CHECK(outcome.unique_bytes() == outcome.floor.bytes);
    CHECK(touched.total_read == touched.unique_read);
    CHECK(touched.total_written == touched.unique_written);
  }
}

TEST_SUITE("quick") {
  TEST_CASE("stream kernels pass their quick cases under permuted schedules") {
    for (const std::uint64_t seed : testing::schedule_seeds())
      testing::expect_all_pass(stream_quick_cases(), {.schedule_seed = seed});
  }
}
