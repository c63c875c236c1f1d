#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "kernels/attention/kv_cache.h"
#include "kernels/attention/reference.h"
#include "kernels/fill/fill.h"
#include "kernels/h2o/family.h"
#include "kernels/h2o/h2o.h"
#include "kernels/h2o/select.h"
#include "kernels/numbers/noise.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

namespace {

constexpr int group_heads = 4, kv_heads = 2, width = 64, query_heads = group_heads * kv_heads;

// A small cache and the arguments of a step, the account zero.
struct Setting {
  explicit Setting(Device& d, std::vector<int> lens)
      : device(d),
        cache({.lens = std::move(lens), .kv_heads = kv_heads, .head_dim = width}),
        stride((cache.max_len() + 3) / 4 * 4),
        rows(static_cast<std::size_t>(cache.sequences() * query_heads)),
        splits((cache.max_len() + 63) / 64),
        q(d, rows * width),
        out(d, rows * width),
        lse(d, rows),
        accumulated(d, rows / group_heads * static_cast<std::size_t>(stride)),
        scores(d, rows * static_cast<std::size_t>(stride)),
        o(d, rows * width * static_cast<std::size_t>(splits)),
        m(d, rows * static_cast<std::size_t>(splits)),
        l(d, rows * static_cast<std::size_t>(splits)) {
    cache.prepare(d, 1, 3);
    accumulated.fill_bytes(0);
  }

  void step(std::size_t variant, std::uint64_t query_seed) {
    fill_bf16(device, q, query_seed, 1.0F);
    H2oArgs args;
    args.q = q.view(), args.kv = cache.view(0), args.out = out.view(), args.lse = lse.view();
    args.sequences = cache.sequences(), args.heads_per_group = group_heads;
    args.log_page = cache.log_page(), args.scale_log2 = 1.44269504F / 8;
    args.accumulated = accumulated.view(), args.stride = stride, args.scores = scores.view();
    args.partials = {o.view(), m.view(), l.view()};
    args.splits = splits, args.split_tokens = 64;
    cpu::h2o_variants()[variant].launch(args, device.stream());
  }
  std::vector<float> account(int group, int len) const {
    return accumulated.download(static_cast<std::size_t>(group) * static_cast<std::size_t>(stride),
                                static_cast<std::size_t>(len));
  }

  Device& device;
  KvCache cache;
  int stride;
  std::size_t rows;
  int splits;
  Array<Bf16> q, out;
  Array<float> lse, accumulated, scores, o, m, l;
};

// The account of one (sequence, kv head) after the steps, in double.
std::vector<double> reference_account(const Setting& s, int group,
                                      const std::vector<std::uint64_t>& query_seeds) {
  const int b = group / kv_heads, len = s.cache.shape().lens[static_cast<std::size_t>(b)];
  const auto keys = s.cache.keys(b, group % kv_heads);
  const auto key = [&](int t) { return keys.data() + static_cast<std::size_t>(t * width); };
  std::vector<double> out(static_cast<std::size_t>(len));
  for (const std::uint64_t seed : query_seeds)
    for (int g = 0; g < group_heads; ++g) {
      std::vector<float> query;
      for (int i = 0; i < width; ++i)
        query.push_back(to_float(to_bf16(noise_normal(
            seed, static_cast<std::uint64_t>((group * group_heads + g) * width + i)))));
      const auto row = reference_attention({.query = query,
                                            .tokens = len,
                                            .value_dim = 1,
                                            .scale = 1.0 / 8,
                                            .key = key,
                                            .value = key,
                                            .visible = {}});
      for (std::size_t t = 0; t < out.size(); ++t) out[t] += row.probability[t];
    }
  return out;
}

}  // namespace

TEST_CASE("heavy hitter kernels match their reference on the edge cases") {
  testing::expect_all_pass(h2o_edge_cases());
}

TEST_CASE("heavy hitter kernels touch their floor and the partial results of the splits only") {
  const int lens = 512, sequences = 2, heads = 8, splits = 2;
  Problems cases;
  cases.push_back(make_h2o_decode(
      {.lens = std::vector<int>(sequences, lens), .kv_heads = 2, .split_tokens = lens / splits}));
  cases.push_back(make_compact({.lens = {200, 90}, .kv_heads = 2, .heavy = 30, .recent = 20}));
  const auto outcomes = testing::expect_all_pass(std::move(cases));
  REQUIRE(outcomes.size() == 4);
  const auto unique = [&](std::size_t i) { return outcomes[i].unique_bytes(); };
  // Partial o, m and l are written and read, the log-sum-exp is read once more.
  const double partials = 8.0 * splits * sequences * heads * (128 + 2) + 4.0 * sequences * heads;
  CHECK(unique(1) == outcomes[1].floor.bytes + partials);
  CHECK(unique(1) <= 1.05 * outcomes[1].floor.bytes);
  CHECK(unique(2) == outcomes[2].floor.bytes);
  CHECK(unique(3) == outcomes[3].floor.bytes);
}

TEST_CASE("each step adds one per query head to the account of every sequence that has tokens") {
  const auto device = make_cpu_device({});
  for (std::size_t variant = 0; variant < 2; ++variant) {
    Setting setting(*device, {33, 0, 150});
    for (int steps = 1; steps <= 2; ++steps) {
      setting.step(variant, static_cast<std::uint64_t>(20 + steps));
      for (int group = 0; group < 3 * kv_heads; ++group) {
        const int len = setting.cache.shape().lens[static_cast<std::size_t>(group / kv_heads)];
        const auto account = setting.account(group, len);
        const double sum = std::accumulate(account.begin(), account.end(), 0.0);
        CHECK(std::abs(sum - (len > 0 ? steps * group_heads : 0)) < 2e-5);
      }
    }
  }
}

TEST_CASE("the rows kept after several steps are those of a reference in double") {
  const auto device = make_cpu_device({});
  const std::vector<std::uint64_t> seeds{31, 32, 33};
  for (std::size_t variant = 0; variant < 2; ++variant) {
    Setting setting(*device, {160, 75});
    for (const std::uint64_t seed : seeds) setting.step(variant, seed);
    for (int group = 0; group < 2 * kv_heads; ++group) {
      const auto want = reference_account(setting, group, seeds);
      const auto got = setting.account(group, static_cast<int>(want.size()));
      const HeavyBudget budget{16, 16};
      CHECK(select_heavy(std::span<const float>(got), budget) ==
            select_heavy(std::span<const double>(want), budget));
    }
  }
}

TEST_CASE("selection keeps recent tokens and the heaviest others in order") {
  const std::vector<double> account{5, 1, 9, 1, 7, 0, 0, 0};
  using Kept = std::vector<std::int32_t>;
  CHECK(select_heavy(account, {2, 2}) == Kept{2, 4, 6, 7});
  CHECK(select_heavy(account, {3, 0}) == Kept{0, 2, 4});
  CHECK(select_heavy(account, {4, 1}) == Kept{0, 1, 2, 4, 7});
  CHECK(select_heavy(account, {0, 3}) == Kept{5, 6, 7});
  CHECK(select_heavy(account, {0, 0}).empty());
  CHECK(select_heavy(account, {4, 4}) == Kept{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(select_heavy(std::span<const double>(), {4, 4}).empty());
}

TEST_SUITE("quick") {
  TEST_CASE("heavy hitter kernels pass their quick cases under permuted schedules") {
    for (const std::uint64_t seed : testing::schedule_seeds())
      testing::expect_all_pass(h2o_quick_cases(), {.schedule_seed = seed});
  }
}
