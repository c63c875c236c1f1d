#include <doctest/doctest.h>

#include <string>

#include "kernels/quantized/family.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

namespace {

// The number that follows a name in a case's id; `other` where it has none.
int number_after(const std::string& id, const std::string& name, int other) {
  const auto at = id.find("/" + name);
  return at == std::string::npos ? other : std::stoi(id.substr(at + 1 + name.size()));
}

// What a decode with splits writes and reads beyond its floor, at most: o, m and l of each part.
double partial_bytes(const std::string& id) {
  if (id.find("/mma") == std::string::npos) return 0;
  const int parts = number_after(id, "splits", 1) + (number_after(id, "residual", 0) > 0 ? 1 : 0);
  return parts == 1 ? 0 : 8.0 * parts * number_after(id, "B", 0) * number_after(id, "Hq", 0) * 130;
}

}  // namespace

TEST_CASE(
    "quantise and quantised decode kernels match their references and touch their floor and "
    "partials") {
  for (const auto& outcome : testing::expect_all_pass(quantized_edge_cases())) {
    CAPTURE(outcome.id);
    const auto bytes =
        static_cast<double>(outcome.touched.unique_read + outcome.touched.unique_written);
    CHECK(bytes <= 1.05 * outcome.floor.bytes + partial_bytes(outcome.id));
  }
}

TEST_SUITE("quick") {
  TEST_CASE("quantised kernels pass their quick cases under permuted schedules") {
    for (const std::uint64_t seed : testing::schedule_seeds())
      testing::expect_all_pass(quantized_quick_cases(), {.schedule_seed = seed});
  }
}
