#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "kernels/testing/run_cases.h"
#include "kernels/tree/family.h"

using namespace kvsim::kernels;

namespace {

bool is_naive(const testing::Outcome& o) { return o.id.find("naive") != std::string::npos; }

}  // namespace

TEST_CASE("tree verification matches attention in double on the edge cases") {
  double worst = 0;
  for (const auto& o : testing::expect_all_pass(tree_edge_cases()))
    worst = std::max(worst, o.check.rel_l2);
  MESSAGE("largest relative error " << worst);
}

TEST_CASE("tree verification without splits touches exactly its floor in bytes") {
  for (const TreeKind tree : {TreeKind::chain, TreeKind::star, TreeKind::binary})
    for (const auto& o :
         testing::run_one(make_tree_problem({.kv = {.lens = {200, 65, 0}, .kv_heads = 2},
         .tokens = 16,
         .tree = tree,
         .splits = 1}))) {
      CAPTURE(o.id);
      CHECK(o.unique_bytes() == o.floor.bytes);
    }
}

TEST_CASE("up to 64 query rows read the prefix once and the naive kernel once per row") {
  for (const auto& o : testing::run_one(
           make_tree_problem({.kv = {.lens = {1024}, .kv_heads = 1}, .tokens = 16, .splits = 2}))) {
    CAPTURE(o.id);
    const double kv = 1024 * 4.0 * 128, partials = 2 * 64 * (4.0 * 128 + 8);
    // All lanes of a warp load the same m and l of a partial.
    const double merge_reads = 2 * 64 * (4.0 * 128 + 4 + 2 * 32 * 4);
    const auto total = static_cast<double>(o.touched.total_read);
    if (is_naive(o)) {
      CHECK(total > 64 * kv);
      continue;
    }
    // The draft's K/V once, queries once per split, partials once; the rest is words of tables,
    // bits and lengths that neighbouring lanes read together.
    const double once = kv + 16 * 4.0 * 128 + 2 * 64 * 2.0 * 128 + merge_reads;
    CHECK(total >= once);
    CHECK(total <= 1.03 * once);
    CHECK(o.unique_bytes() <= o.floor.bytes + 2 * partials);
  }
}

TEST_CASE("ancestor bits are those of the root path and a full binary tree has depth log n") {
  for (const TreeKind kind : {TreeKind::chain, TreeKind::star, TreeKind::binary, TreeKind::random})
    for (const int tokens : {1, 16, 63, 64}) {
      const auto parents = tree_parents(kind, tokens, 3);
      const auto bits = ancestor_bits(parents);
      for (int t = 0; t < tokens; ++t) {
        std::uint64_t want = 0;
        for (const int ancestor : root_path(parents, t)) want |= std::uint64_t{1} << ancestor;
        CHECK(bits[static_cast<std::size_t>(t)] == want);
      }
    }
  const auto binary = ancestor_bits(tree_parents(TreeKind::binary, 63, 0));
  CHECK(std::popcount(binary.back()) == 6);
  const auto chain = ancestor_bits(tree_parents(TreeKind::chain, 64, 0));
  CHECK(chain.back() == ~std::uint64_t{0});
}

TEST_SUITE("quick") {
  TEST_CASE("tree verification passes its quick cases under permuted schedules") {
    for (const std::uint64_t seed : testing::schedule_seeds())
      testing::expect_all_pass(tree_quick_cases(), {.schedule_seed = seed, .data_seed = seed});
  }
}
