#include <doctest/doctest.h>

#include "kernels/quantized/family.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

TEST_CASE("quantise and quantised decode kernels match their references and touch their floor") {
  for (const auto& outcome : testing::expect_all_pass(quantized_edge_cases())) {
    CAPTURE(outcome.id);
    const auto bytes =
        static_cast<double>(outcome.touched.unique_read + outcome.touched.unique_written);
    CHECK(bytes <= 1.05 * outcome.floor.bytes);
  }
}

TEST_SUITE("quick") {
  TEST_CASE("quantised kernels pass their quick cases under a permuted schedule") {
    testing::expect_all_pass(quantized_quick_cases(), {.schedule_seed = 3});
  }
}
