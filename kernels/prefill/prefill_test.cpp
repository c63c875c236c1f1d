#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "kernels/prefill/family.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

namespace {

PrefillShape one_sequence(int q_len, int kv_len, Mask mask) {
  PrefillShape shape;
  shape.q_lens = {q_len};
  shape.kv.lens = {kv_len};
  shape.kv.kv_heads = 1;
  shape.kv.head_dim = 64;
  shape.kv.page_tokens = 0;
  shape.mask = mask;
  return shape;
}

}  // namespace

TEST_CASE("prefill kernels match their reference on the edge cases and touch exactly their floor") {
  double worst = 0;
  for (const auto& outcome : testing::expect_all_pass(prefill_edge_cases())) {
    CAPTURE(outcome.id);
    const auto unique =
        static_cast<double>(outcome.touched.unique_read + outcome.touched.unique_written);
    // Queries that see no token need not be read.
    if (outcome.id.find("Lq70/Lk5/") != std::string::npos)
      CHECK(unique <= outcome.floor.bytes);
    else
      CHECK(unique == outcome.floor.bytes);
    worst = std::max(worst, outcome.check.rel_l2);
  }
  MESSAGE("largest relative error " << worst);
}

TEST_CASE("the causal floor of a whole prompt is half the square and its diagonal") {
  const auto causal = make_prefill(one_sequence(100, 100, Mask::causal))->floor();
  const auto full = make_prefill(one_sequence(100, 100, Mask::none))->floor();
  CHECK(full.flops == 4.0 * 100 * 100 * 64);
  CHECK(causal.flops == 4.0 * 100 * 101 / 2 * 64);
  CHECK(causal.bytes == full.bytes);
  // A chunk sees all that stands before it.
  const auto chunk = make_prefill(one_sequence(10, 100, Mask::causal))->floor();
  CHECK(chunk.flops == 4.0 * (10 * 90 + 10 * 11 / 2) * 64);
}

TEST_CASE("causal tiles above the diagonal are never fetched") {
  const auto tokens_read = [](Mask mask, const char* variant) {
    Problems problems;
    problems.push_back(make_prefill(one_sequence(256, 256, mask)));
    for (const auto& outcome : testing::run_cases(std::move(problems)))
      if (outcome.id.find(variant) != std::string::npos)
        // Without the queries and the few words of lengths.
        return (static_cast<double>(outcome.touched.total_read) - 256 * 128) / 256;
    return 0.0;
  };
  // Four tiles of 64 queries fetch 64, 128, 192 and 256 tokens, or 256 each.
  CHECK(tokens_read(Mask::causal, "/mma_flash/") == doctest::Approx(640).epsilon(0.05));
  CHECK(tokens_read(Mask::none, "/mma_flash/") == doctest::Approx(1024).epsilon(0.05));
  // Two tiles of 128 queries.
  CHECK(tokens_read(Mask::causal, "/mma_flash128/") == doctest::Approx(384).epsilon(0.05));
}

TEST_SUITE("quick") {
  TEST_CASE("prefill kernels pass their quick cases under permuted schedules") {
    for (const std::uint64_t seed : testing::schedule_seeds())
      testing::expect_all_pass(prefill_quick_cases(), {.schedule_seed = seed});
  }
}
