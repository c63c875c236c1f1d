#include <doctest/doctest.h>

#include <cmath>

#include "kernels/attention/kv_cache.h"
#include "kernels/attention/merge.h"
#include "kernels/attention/reference.h"
#include "kernels/host/compare.h"
#include "kernels/numbers/noise.h"

using namespace kvsim::kernels;

namespace {

std::vector<float> floats(std::uint64_t seed, int count, float scale = 1) {
  std::vector<float> out;
  for (int i = 0; i < count; ++i)
    out.push_back(scale * noise_normal(seed, static_cast<std::uint64_t>(i)));
  return out;
}

ReferenceInput input_over(const std::vector<float>& query, const std::vector<float>& keys,
                          const std::vector<float>& values, int first, int tokens) {
  const std::size_t dim = query.size();
  return {.query = query,
          .first = first,
          .tokens = tokens,
          .value_dim = static_cast<int>(dim),
          .scale = 0.3,
          .key = [&keys, dim](int t) { return &keys[static_cast<std::size_t>(t) * dim]; },
          .value = [&values, dim](int t) { return &values[static_cast<std::size_t>(t) * dim]; },
          .visible = {}};
}

// Partials of noise for `groups` groups, merged on the device and in double.
void check_merge(int value_dim, std::vector<std::int32_t> first, int tokens) {
  const int groups = static_cast<int>(first.size()) - 1, heads = 3, kv_heads = 2;
  const int rows = heads * tokens, partials = first.back();
  auto device = make_cpu_device({.schedule_seed = 5, .count_bytes = true});
  const auto o = floats(1, partials * rows * value_dim);
  auto m = floats(2, partials * rows, 4), l = floats(3, partials * rows);
  for (std::size_t i = 0; i < m.size(); ++i) {
    l[i] = std::abs(l[i]) + 0.5F;
    if (i % 4 == 1) m[i] = -INFINITY, l[i] = 0;
  }
  Array<float> device_o(*device, o), device_m(*device, m), device_l(*device, l);
  Array<std::int32_t> device_first(*device, first);
  const int out_rows = groups * rows;
  Array<Bf16> out(*device, static_cast<std::size_t>(out_rows * value_dim));
  Array<float> lse(*device, static_cast<std::size_t>(out_rows));
  cpu::launch_merge({.partials = {device_o.view(), device_m.view(), device_l.view()},
                     .first = device_first.view(),
                     .groups = groups,
                     .kv_heads = kv_heads,
                     .heads_per_group = heads,
                     .tokens = tokens,
                     .value_dim = value_dim,
                     .out = out.view(),
                     .lse = lse.view()},
                    device->stream());
  const auto got = out.download();
  const auto got_lse = lse.download();
  Comparison comparison(3e-3);
  for (int g = 0; g < groups; ++g)
    for (int r = 0; r < rows; ++r) {
      const auto at = static_cast<std::size_t>(g);
      if (first[at] == first[at + 1]) continue;
      double sum = 0;
      std::vector<double> want(static_cast<std::size_t>(value_dim));
      for (int p = first[at]; p < first[at + 1]; ++p) {
        const auto i = static_cast<std::size_t>(p * rows + r);
        const double weight = std::exp2(static_cast<double>(m[i]));
        sum += weight * static_cast<double>(l[i]);
        for (std::size_t d = 0; d < want.size(); ++d)
          want[d] += weight * static_cast<double>(o[i * want.size() + d]);
      }
      const int row =
          ((g / kv_heads * tokens + r / heads) * kv_heads + g % kv_heads) * heads + r % heads;
      for (std::size_t d = 0; d < want.size(); ++d)
        comparison.add(
            static_cast<double>(to_float(got[static_cast<std::size_t>(row) * want.size() + d])),
            sum > 0 ? want[d] / sum : 0);
      const auto lse_of_row = static_cast<double>(got_lse[static_cast<std::size_t>(row)]);
      if (sum > 0)
        CHECK(lse_of_row == doctest::Approx(std::log(sum)).epsilon(1e-5));
      else
        CHECK(lse_of_row == -INFINITY);
      comparison.end_row();
    }
  const Check check = comparison.result();
  CAPTURE(check.rel_l2);
  CHECK(check.passed());
}

}  // namespace

TEST_CASE("reference attention over two halves merges to attention over the whole") {
  const auto query = floats(1, 16), keys = floats(2, 16 * 40), values = floats(3, 16 * 40);
  const auto whole = reference_attention(input_over(query, keys, values, 0, 40));
  for (const int middle : {0, 1, 17, 40}) {
    const auto both = merged(reference_attention(input_over(query, keys, values, 0, middle)),
                             reference_attention(input_over(query, keys, values, middle, 40)));
    CHECK(both.lse == doctest::Approx(whole.lse).epsilon(1e-12));
    for (std::size_t d = 0; d < 16; ++d)
      CHECK(both.out[d] == doctest::Approx(whole.out[d]).epsilon(1e-10));
  }
}

TEST_CASE("reference attention to nothing is zeros and to one token is its value") {
  const auto query = floats(1, 16), keys = floats(2, 16), values = floats(3, 16);
  const auto none = reference_attention(input_over(query, keys, values, 0, 0));
  CHECK(none.lse == -INFINITY);
  CHECK(none.out == std::vector<double>(16));
  const auto one = reference_attention(input_over(query, keys, values, 0, 1));
  for (std::size_t d = 0; d < 16; ++d) CHECK(one.out[d] == static_cast<double>(values[d]));
}

TEST_CASE("a shared prefix is counted once among the bytes of a cache") {
  const KvCache cache(
      {.lens = {40, 33, 8, 0}, .kv_heads = 2, .page_tokens = 16, .shared_tokens = 32});
  CHECK(cache.kv_bytes() == (32 + 8 + 1) * 2 * 128 * 4.0);
  // Windows of 10: tokens 30 ... 39, 23 ... 32 and 0 ... 7, so 0 ... 7 and 23 ... 31 of the shared.
  CHECK(cache.kv_bytes(10) == (8 + 9 + 8 + 1) * 2 * 128 * 4.0);
  CHECK(cache.table_bytes() == 4.0 * (4 + 3 + 3 + 1));
  CHECK(cache.table_bytes(10) == 4.0 * (4 + 2 + 2 + 1));
}

TEST_SUITE("quick") {
  TEST_CASE("merged partials equal the sum in double whatever the number of partials") {
    for (const int value_dim : {64, 128}) check_merge(value_dim, {0, 1, 5, 5, 45}, 1);
    check_merge(128, {0, 3, 6}, 4);
  }
}
