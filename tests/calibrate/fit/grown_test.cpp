#include "calibrate/fit/grown.h"

#include <doctest/doctest.h>

#include <variant>

#include "cost/operators/form.h"

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

template <class S>
S grown_as(const S& s, int field, double factor) {
  const std::optional<cost::Shape> out = grown(s, field, factor);
  REQUIRE(out);
  return std::get<S>(*out);
}

cost::PrefillAttention prompts(double batch) {
  cost::PrefillAttention s;
  s.batch = batch, s.q_len = 512, s.kv_len = 2048, s.n_heads = 32, s.n_kv_heads = 8;
  s.head_dim = 128;
  s.kv = s.compute = *cost::find_format("bf16");
  return s;
}

}  // namespace

TEST_CASE("a shape grows by its work and keeps its widths") {
  const cost::Gemm product = grown_as(cost::Gemm{96, 1024, 4096, *cost::find_format("bf16")}, 0, 2);
  CHECK(product.m == 192);
  CHECK(product.n * product.k == 1024.0 * 4096);

  cost::MlaModule block;
  block.core.batch = 4, block.core.kv_len = 300, block.core.n_heads = 16;
  CHECK(grown_as(block, 0, 2).core.batch == 8);
  CHECK(grown_as(block, 0, 2).core.kv_len == 300);
  CHECK(grown_as(block, 1, 2).core.batch == 4);
  CHECK(grown_as(block, 1, 2).core.kv_len == 600);

  const cost::Elementwise rows{10, 4096};
  CHECK(grown_as(rows, 0, 1.5).bytes() == doctest::Approx(1.5 * rows.bytes()));
  cost::Collective message;
  message.bytes = 1 << 20;
  CHECK(grown_as(message, 0, 2).bytes == 1 << 21);
  CHECK(grown_as(message, 0, 2).num_gpus == message.num_gpus);
}

TEST_CASE("only attention grows by its keys") {
  cost::ExpertMlp experts;
  experts.tokens = 64;
  CHECK(grown(experts, 0, 2));
  CHECK_FALSE(grown(experts, 1, 2));
  CHECK_FALSE(grown(cost::Gemm{96, 1024, 4096, {}}, 1, 2));
  CHECK_FALSE(grown(cost::ExpertExchange{}, 1, 2));
  CHECK(grown(cost::DecodeAttention{}, 1, 2));
  CHECK_FALSE(grown(cost::DecodeAttention{}, work_fields, 2));
}

TEST_CASE("prompts that differ in length grow by more of the same and not by their keys") {
  cost::PrefillAttention mixed = prompts(3);
  mixed.pairs = 3 * cost::causal_pairs(512, 2048, 0);
  CHECK_FALSE(grown(mixed, 1, 2));
  CHECK(grown(prompts(3), 1, 2));
  // Pairs of as many prompts, counted anew.
  CHECK(grown_as(mixed, 0, 2).pairs == doctest::Approx(6 * cost::causal_pairs(512, 2048, 0)));
  CHECK(grown_as(mixed, 0, 2).batch == 6);
}
