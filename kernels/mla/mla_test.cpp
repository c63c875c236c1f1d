#include <doctest/doctest.h>

#include <cmath>

#include "kernels/attention/reference.h"
#include "kernels/mla/family.h"
#include "kernels/mla/mla_problem.h"
#include "kernels/mla/plan.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

namespace {

double unique_bytes(const testing::Outcome& outcome) {
  return static_cast<double>(outcome.touched.unique_read + outcome.touched.unique_written);
}

// Partial results are written once and read once: per slot and row 512 numbers, maximum and sum.
double partial_bytes(const MlaPlan& plan, int rows) {
  return 2.0 * 4.0 * (mla_latent + 2) * rows * plan.slots();
}

std::vector<testing::Outcome> run_one(const MlaShape& shape) {
  Problems one;
  one.push_back(make_mla_problem(shape));
  return testing::expect_all_pass(std::move(one));
}

std::vector<double> noise(std::uint64_t seed, std::size_t count) {
  return noise_doubles(seed, 0, count, 1);
}

LatentRows noise_rows(std::uint64_t seed, std::size_t count) {
  LatentRows rows;
  for (std::size_t j = 0; j < count; ++j)
    rows.push_back(noise(seed + j, static_cast<std::size_t>(mla_row)));
  return rows;
}

}  // namespace

TEST_CASE("MLA kernels match their reference on the edge cases") {
  testing::expect_all_pass(mla_edge_cases());
}

TEST_CASE("MLA decode without splits touches at most 1 percent more than its floor") {
  for (const int heads : {16, 32, 64, 128})
    for (const auto& outcome :
         run_one({.lens = {100, 65, 33, 0}, .heads = heads, .page_tokens = 16, .blocks = 1})) {
      CAPTURE(outcome.id);
      CHECK(unique_bytes(outcome) >= outcome.floor.bytes);
      CHECK(unique_bytes(outcome) <= 1.01 * outcome.floor.bytes);
    }
}

TEST_CASE("MLA decode with splits touches its floor and its partial results") {
  const MlaShape shape{.lens = {300, 1, 100}, .page_tokens = 64, .blocks = 5, .min_tiles = 1};
  const MlaPlan plan = plan_mla(shape.lens, 5, 1);
  REQUIRE(plan.slots() == 6);
  for (const auto& outcome : run_one(shape)) {
    CAPTURE(outcome.id);
    const bool split = outcome.id.find("simt") == std::string::npos;
    const double floor = outcome.floor.bytes + (split ? partial_bytes(plan, 16) : 0.0);
    CHECK(unique_bytes(outcome) >= floor);
    CHECK(unique_bytes(outcome) <= 1.01 * floor);
  }
}

TEST_CASE("MLA decode over many blocks merges more partial results than warps and lanes") {
  const MlaShape shape{.lens = {1090}, .heads = 4, .blocks = 40, .min_tiles = 1};
  const MlaPlan plan = plan_mla(shape.lens, 40, 1);
  REQUIRE(plan.slots() == 35);
  for (const auto& outcome : run_one(shape)) {
    CAPTURE(outcome.id);
    const bool split = outcome.id.find("simt") == std::string::npos;
    const double floor = outcome.floor.bytes + (split ? partial_bytes(plan, 4) : 0.0);
    CHECK(outcome.unique_bytes() >= floor);
    CHECK(outcome.unique_bytes() <= 1.01 * floor);
  }
}

TEST_CASE("Tokens of shared MLA pages count once in the floor and in the bytes touched") {
  for (const auto& outcome : run_one({.lens = {20, 70, 16, 5},
                             .page_tokens = 16,
                             .blocks = 1,
                             .pages = Pages::shared_prefix})) {
    CAPTURE(outcome.id);
    CHECK(unique_bytes(outcome) <= 1.01 * outcome.floor.bytes);
    CHECK(outcome.floor.bytes < 1152.0 * (20 + 70 + 16 + 5 - 16 - 16 - 5 + 1) + 4 * 35000.0);
  }
}

TEST_CASE("Projecting K and V of every token equals absorbing the matrices into q and the output") {
  HeadMatrices head{noise(1, std::size_t{mla_head} * mla_latent),
                    noise(2, std::size_t{mla_head} * mla_latent)};
  for (double& w : head.w_uk) w /= 22;
  for (double& w : head.w_uv) w /= 22;
  const auto q = noise(3, static_cast<std::size_t>(mla_head + mla_rope));
  const LatentRows rows = noise_rows(4, 37);
  for (const int tokens : {0, 1, 36}) {
    const auto projected = mla_reprojected(q, head, rows, tokens, 0.07);
    const auto absorbed =
        project_output(mla_absorbed(absorb_query(q, head), rows, tokens, 0.07), head);
    REQUIRE(projected.size() == absorbed.size());
    for (std::size_t i = 0; i < absorbed.size(); ++i)
      CHECK(std::abs(projected[i] - absorbed[i]) <= 1e-10);
  }
}

TEST_CASE("The absorbed MLA reference equals plain attention over rows that are key and value") {
  const auto q = noise(5, static_cast<std::size_t>(mla_row));
  const LatentRows rows = noise_rows(6, 20);
  std::vector<std::vector<float>> floats;
  for (const auto& row : rows) floats.emplace_back(row.begin(), row.end());
  const std::vector<float> query(q.begin(), q.end());
  const auto row_of = [&](int token) { return floats[static_cast<std::size_t>(token)].data(); };
  for (const int tokens : {0, 1, 20}) {
    const auto plain = reference_attention({.query = query,
                                            .tokens = tokens,
                                            .value_dim = mla_latent,
                                            .scale = 0.07,
                                            .key = row_of,
                                            .value = row_of,
                                            .visible = {}});
    const auto absorbed = mla_absorbed(q, rows, tokens, 0.07);
    for (std::size_t i = 0; i < absorbed.size(); ++i)
      CHECK(std::abs(plain.out[i] - absorbed[i]) <= 1e-12);
  }
}

TEST_SUITE("quick") {
  TEST_CASE("MLA kernels pass their quick cases under permuted schedules") {
    for (const std::uint64_t seed : testing::schedule_seeds())
      testing::expect_all_pass(mla_quick_cases(), {.schedule_seed = seed});
  }
}
