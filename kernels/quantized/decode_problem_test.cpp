#include "kernels/quantized/decode_problem.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/attention/reference.h"
#include "kernels/numbers/noise.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

namespace {

using Tokens = std::vector<float>;

Tokens through(const BlockShape& shape, const Tokens& values) {
  std::vector<std::uint8_t> block(static_cast<std::size_t>(block_bytes(shape.format, shape.page)));
  quantise_block(shape, values, 0, shape.page, block);
  const auto back = dequantise_block(shape, block, shape.page);
  return {back.begin(), back.end()};
}

ReferenceRow attend(const Tokens& query, const Tokens& keys, const Tokens& values) {
  const auto at = [](const Tokens& rows, int token) {
    return &rows[static_cast<std::size_t>(token) * quantised_dim];
  };
  return reference_attention({.query = query,
                              .first = 0,
                              .tokens = static_cast<int>(keys.size() / quantised_dim),
                              .value_dim = quantised_dim,
                              .scale = 1 / std::sqrt(128.0),
                              .key = [&](int token) { return at(keys, token); },
                              .value = [&](int token) { return at(values, token); },
                              .visible = {}});
}

// Of attention over quantised keys and values, against the values as they were.
double output_error(KvFormat format) {
  constexpr int tokens = 512;
  Tokens keys(tokens * quantised_dim), values(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = noise_normal(1, i), values[i] = noise_normal(2, i);
  const float scale = format == KvFormat::nvfp4 ? 6.0F / (448 * 6) : 0.0125F;
  const Tokens stored_keys = through({format, KvSide::key, tokens, scale}, keys);
  const Tokens stored_values = through({format, KvSide::value, tokens, scale}, values);
  double error = 0, sum = 0;
  for (std::uint64_t row = 0; row < 16; ++row) {
    Tokens query(quantised_dim);
    for (std::size_t d = 0; d < query.size(); ++d) query[d] = noise_normal(3 + row, d);
    const auto want = attend(query, keys, values);
    const auto got = attend(query, stored_keys, stored_values);
    for (std::size_t d = 0; d < want.out.size(); ++d) {
      error += std::pow(got.out[d] - want.out[d], 2);
      sum += std::pow(want.out[d], 2);
    }
  }
  return std::sqrt(error / sum);
}

}  // namespace

TEST_CASE("attention over quantised keys and values is off by the error of both together") {
  struct Known {
    KvFormat format;
    double error;  // of one element
  };
  for (const Known known :
       {Known{KvFormat::int8, 0.0065}, Known{KvFormat::fp8, 0.026}, Known{KvFormat::int4, 0.090},
        Known{KvFormat::nvfp4, 0.095}, Known{KvFormat::kivi2, 0.39}}) {
    CAPTURE(format_name(known.format));
    const double error = output_error(known.format);
    CHECK(error > known.error);
    CHECK(error < 2 * known.error);
  }
}

TEST_CASE("planned splits fill the GPU and leave every part some hundred tokens") {
  CHECK(planned_splits(512, 8192, 264) == 1);
  CHECK(planned_splits(64, 8192, 264) == 4);
  CHECK(planned_splits(8, 131072, 264) >= 30);
  CHECK(planned_splits(8, 2048, 264) == 4);
  CHECK(planned_splits(1, 0, 264) == 1);
}

TEST_CASE(
    "a decode of one split reads its codes once and writes its output rows and nothing else") {
  for (const KvFormat format : {KvFormat::fp8, KvFormat::int8, KvFormat::int4, KvFormat::nvfp4}) {
    Problems cases;
    cases.push_back(decode_quantised_problem(
        {{.format = format, .lens = {96, 320}, .kv_heads = 2, .page = 16}, 4, 1}));
    for (const auto& outcome : testing::expect_all_pass(std::move(cases))) {
      CAPTURE(outcome.id);
      CHECK(outcome.touched.unique_written == 2 * 8 * (quantised_dim * 2 + 4));
      CHECK(static_cast<double>(outcome.touched.unique_read + outcome.touched.unique_written) ==
            outcome.floor.bytes);
    }
  }
}

TEST_CASE("a quantised decode with splits touches its floor and its partial results") {
  constexpr int splits = 2, rows = 2 * 8;
  for (const KvFormat format : {KvFormat::fp8, KvFormat::int8, KvFormat::int4, KvFormat::nvfp4}) {
    Problems cases;
    cases.push_back(decode_quantised_problem(
        {{.format = format, .lens = {512, 256}, .kv_heads = 2, .page = 16}, 4, splits}));
    for (const auto& outcome : testing::expect_all_pass(std::move(cases))) {
      CAPTURE(outcome.id);
      const bool split = outcome.id.find("simt") == std::string::npos;
      CHECK(static_cast<double>(outcome.touched.unique_read + outcome.touched.unique_written) ==
            outcome.floor.bytes + (split ? 8.0 * splits * rows * (quantised_dim + 2) : 0.0));
    }
  }
}
