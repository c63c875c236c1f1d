#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "kernels/decode/decode_plan.h"
#include "kernels/decode/decode_problem.h"
#include "kernels/decode/family.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

namespace {

bool is_naive(const std::string& id) { return id.find("nosplit") != std::string::npos; }

}  // namespace

TEST_CASE("decode kernels match attention in double on the edge cases") {
  testing::expect_all_pass(decode_edge_cases());
}

TEST_CASE("paged decode exceeds its floor in bytes by at most 5 percent") {
  // One sequence of 1024 tokens, two splits: partials are what exceeds the floor.
  for (const int page : {0, 1, 16, 64})
    for (const auto& o : testing::run_one(
             make_decode_problem({.kv = {.lens = {1024}, .kv_heads = 1, .page_tokens = page},
   .splits = 2,
   .blocks = 2}))) {
      CAPTURE(o.id);
      CAPTURE(o.unique_bytes() / o.floor.bytes);
      CHECK(o.unique_bytes() >= o.floor.bytes);
      CHECK(o.unique_bytes() <= 1.05 * o.floor.bytes);
      // K/V is loaded once, by the naive kernel once per query head; with CUDA cores each lane
      // loads the table's word again, 1/8 of a row.
      const auto total = static_cast<double>(o.touched.total_read);
      CHECK((is_naive(o.id) ? total > 3.9 * o.floor.bytes : total <= 1.2 * o.floor.bytes));
    }
}

TEST_CASE("decode without splits touches exactly its floor in bytes") {
  for (const int page : {0, 16})
    for (const auto& o : testing::run_one(
             make_decode_problem({.kv = {.lens = {200, 65, 0}, .kv_heads = 2, .page_tokens = page},
   .splits = 1,
   .blocks = 1}))) {
      CAPTURE(o.id);
      // A plan adds its own few words.
      const double plan = o.id.find("planned") != std::string::npos ? 6 * 16 + 2 * 4 : 0;
      CHECK(o.unique_bytes() == o.floor.bytes + plan);
    }
}

TEST_CASE("bytes of decode with a sliding window do not grow with the length") {
  std::map<std::string, double> before;
  for (const int len : {256, 1024}) {
    std::map<std::string, double> bytes;
    for (const auto& o : testing::run_one(make_decode_problem(
             {.kv = {.lens = {len}, .kv_heads = 1}, .window = 128, .splits = 1, .blocks = 1})))
      bytes[o.id.substr(0, o.id.find("/bf16"))] = o.unique_bytes();
    CHECK(bytes.size() == 6);
    if (!before.empty()) CHECK(bytes == before);
    before = bytes;
  }
}

TEST_CASE("decode over a shared prefix reads its bytes once and gives what separate pages give") {
  for (const auto& o : testing::run_one(make_decode_problem(
           {.kv = {.lens = {256, 256, 256}, .kv_heads = 1, .shared_tokens = 256},
          .splits = 1,
          .blocks = 1}))) {
    CAPTURE(o.id);
    CHECK(o.unique_bytes() <= 1.02 * o.floor.bytes);
    CHECK(o.floor.bytes < 256 * 4.0 * 128 + 8000);
  }
}

TEST_CASE("a plan covers every tile once with equal runs and at most two partials each") {
  const std::vector<std::vector<int>> batches{
      {0}, {1}, {}, {64, 64}, {10000}, {5000, 1, 0, 64, 65, 70, 0, 3000}, {300, 300, 300}};
  for (const auto& lens : batches)
    for (const int kv_heads : {1, 3})
      for (const int window : {0, 100, 1000})
        for (const int blocks : {1, 2, 7, 264}) {
          const DecodePlan plan = plan_decode(lens, kv_heads, window, blocks);
          const auto groups = lens.size() * static_cast<std::size_t>(kv_heads);
          CHECK(plan.runs() <= blocks);
          CHECK(plan.partial_first.size() == groups + 1);
          CHECK(plan.run_first.back() == static_cast<int>(plan.segments.size()));
          std::vector<int> next(groups, -1), longest, partials_of(groups);
          for (int r = 0; r < plan.runs(); ++r) {
            int tiles = 0, partials = 0;
            for (int i = plan.run_first[static_cast<std::size_t>(r)];
                 i < plan.run_first[static_cast<std::size_t>(r) + 1]; ++i) {
              const DecodeSegment s = plan.segments[static_cast<std::size_t>(i)];
              const auto g = static_cast<std::size_t>(s.group);
              const int len = lens[g / static_cast<std::size_t>(kv_heads)];
              if (next[g] < 0) next[g] = first_visible(len, window) / decode_tile;
              CHECK(s.tile_begin == next[g]);
              next[g] = s.tile_end;
              tiles += s.tile_end - s.tile_begin;
              if (s.partial >= 0) {
                CHECK(s.partial == plan.partial_first[g] + partials_of[g]);
                ++partials, ++partials_of[g];
              }
            }
            longest.push_back(tiles);
            CHECK(partials <= 2);
          }
          for (std::size_t g = 0; g < groups; ++g) {
            const int len = lens[g / static_cast<std::size_t>(kv_heads)];
            CHECK(next[g] == (len + decode_tile - 1) / decode_tile);
            CHECK(partials_of[g] == plan.partial_first[g + 1] - plan.partial_first[g]);
            CHECK(partials_of[g] != 1);
          }
          const auto [least, most] = std::minmax_element(longest.begin(), longest.end());
          CHECK(*most - *least <= 1);
        }
}

TEST_CASE("splits fill the machine with at least 256 tokens each and stay below 129") {
  CHECK(choose_splits(264, 8192, 264) == 1);
  CHECK(choose_splits(8, 131072, 264) == 29);  // 232 of 264
  CHECK(choose_splits(8, 2048, 264) == 8);     // as many as have 256 tokens
  CHECK(choose_splits(1, 1 << 20, 264) == 128);
  CHECK(choose_splits(8, 0, 264) == 1);
  CHECK(choose_splits(0, 100, 264) == 1);
}

TEST_CASE("a second launch finds its counters as the first one did") {
  const auto device = make_cpu_device({});
  const auto problem =
      make_decode_problem({.kv = {.lens = {200, 0, 70}, .kv_heads = 2}, .splits = 3, .blocks = 3});
  problem->prepare(*device, 2, 11);
  for (std::size_t v = 0; v < problem->variants().size(); ++v)
    for (int launch = 0; launch < 2; ++launch) {
      CAPTURE(problem->variants()[v].name);
      problem->poison(0);
      problem->launch(v, 1, device->stream());
      problem->launch(v, 0, device->stream());
      CHECK(problem->check(v, 1 << 30).passed());
    }
}

TEST_SUITE("quick") {
  TEST_CASE("decode kernels pass their quick cases and do not depend on the schedule") {
    std::vector<testing::Outcome> first;
    for (const std::uint64_t seed : testing::schedule_seeds()) {
      const auto outcomes = testing::expect_all_pass(decode_quick_cases(), {.schedule_seed = seed});
      if (first.empty()) first = outcomes;
      REQUIRE(outcomes.size() == first.size());
      for (std::size_t i = 0; i < outcomes.size(); ++i) {
        CAPTURE(outcomes[i].id);
        CHECK(outcomes[i].check.rel_l2 == first[i].check.rel_l2);
        CHECK(outcomes[i].check.max_abs == first[i].check.max_abs);
      }
    }
  }
}
