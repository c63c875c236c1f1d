#include <doctest/doctest.h>

#include "kernels/cascade/family.h"
#include "kernels/decode/decode_problem.h"
#include "kernels/gemm/family.h"
#include "kernels/h2o/family.h"
#include "kernels/mla/mla_problem.h"
#include "kernels/quantized/decode_problem.h"
#include "kernels/tree/family.h"

// The operations that floors claim, against counts by hand for shapes small enough to draw. A pair
// is a query head and a token that it sees: a product and a sum per column of the key, and again
// per column of the value.
using namespace kvsim::kernels;

namespace {

constexpr double per_pair_64 = 4.0 * 64, per_pair_128 = 4.0 * 128;

}  // namespace

TEST_CASE("the operations of decode are those of the tokens inside the window") {
  const DecodeShape whole{.kv = {.lens = {5, 0, 3}, .kv_heads = 2, .head_dim = 64}, .group = 3};
  CHECK(make_decode_problem(whole)->floor().flops == (5 + 0 + 3) * 6 * per_pair_64);
  DecodeShape window = whole;
  window.window = 4;
  CHECK(make_decode_problem(window)->floor().flops == (4 + 0 + 3) * 6 * per_pair_64);
}

TEST_CASE("the operations of a tree are those of the prefix and of each node with its ancestors") {
  TreeShape shape{.kv = {.lens = {10, 3}, .kv_heads = 2, .head_dim = 64},
                  .tokens = 5,
                  .group = 2,
                  .tree = TreeKind::chain};
  const double prefix = 5 * 10 + 5 * 3;
  const auto flops = [&](TreeKind tree) {
    shape.tree = tree;
    return make_tree_problem(shape)->floor().flops;
  };
  CHECK(flops(TreeKind::chain) == (prefix + 2 * (1 + 2 + 3 + 4 + 5)) * 4 * per_pair_64);
  CHECK(flops(TreeKind::star) == (prefix + 2 * (1 + 2 + 2 + 2 + 2)) * 4 * per_pair_64);
  CHECK(flops(TreeKind::binary) == (prefix + 2 * (1 + 2 + 2 + 3 + 3)) * 4 * per_pair_64);
}

TEST_CASE("the operations of a cascade count the prefix for every sequence") {
  const CascadeShape shape{
      .suffixes = {2, 0, 5}, .prefix = 16, .kv_heads = 2, .group = 2, .head_dim = 64};
  CHECK(make_cascade_problem(shape)->floor().flops == (18 + 16 + 21) * 4 * per_pair_64);
}

TEST_CASE("the operations of MLA are 576 columns of a key and 512 of a value per pair") {
  // The first of two query tokens sees one token less than the second.
  const MlaShape shape{.lens = {5, 1, 0}, .heads = 3, .queries = 2, .blocks = 1};
  CHECK(make_mla_problem(shape)->floor().flops == ((4 + 5) + (0 + 1)) * 3 * 2.0 * (576 + 512));
  // Before absorption each token of each head is projected to a key and a value of 128 first.
  const double projection = 2 * (2.0 * 128 * 512), attention = 2.0 * (192 + 128);
  CHECK(make_mla_naive_problem({.lens = {3, 1}, .heads = 2})->floor().flops ==
        (3 + 1) * 2 * (projection + attention));
}

TEST_CASE("the operations of quantised decode are those of decode") {
  const DecodeQuantisedShape shape{{.lens = {40, 7}, .kv_heads = 2}, 3, 1};
  CHECK(decode_quantised_problem(shape)->floor().flops == (40 + 7) * 6 * per_pair_128);
  const DecodeQuantisedShape residual{
      {.format = KvFormat::kivi2, .lens = {70}, .page = 32, .residual = 32}, 4, 1};
  CHECK(decode_quantised_problem(residual)->floor().flops == 70 * 4 * per_pair_128);
}

TEST_CASE("the operations of a gemm are a product and a sum per element and step of K") {
  for (const GemmFormat format : {GemmFormat::bf16, GemmFormat::e4m3})
    CHECK(make_gemm(format, {3, 5, 16})->floor().flops == 3 * 5 * 16 * 2);
  // Two blocks of four warps with eight chains, three rounds, of 16 x 8 x 16 or 32 products.
  CHECK(make_mma_peak(GemmFormat::bf16, 2, 3)->floor().flops == 2 * 4 * 8 * 3 * 2 * 16 * 8 * 16);
  CHECK(make_mma_peak(GemmFormat::e4m3, 2, 3)->floor().flops == 2 * 4 * 8 * 3 * 2 * 16 * 8 * 32);
}

TEST_CASE("the operations of a step of heavy hitters are those of decode and moving rows is none") {
  CHECK(make_h2o_decode({.lens = {9, 4}, .kv_heads = 2, .heads_per_group = 3, .head_dim = 64})
            ->floor()
            .flops == (9 + 4) * 6 * per_pair_64);
  CHECK(make_compact({.lens = {20}, .kv_heads = 2, .heavy = 3, .recent = 2})->floor().flops == 0);
}
