#include "planner/at_lengths.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "diag/diagnostic.h"
#include "memory/holding.h"
#include "planner/change.h"
#include "random/stream.h"
#include "requests.h"

using namespace kvsim;
using namespace kvsim::planner;

namespace {

memory::Pool small_pool(std::int64_t blocks, const char* model = "llama-3.1-8b") {
  Request r = request(model, "h200-sxm");
  r.options.num_gpu_blocks_override = blocks;
  r.options.kv_cache_memory = {Bytes(20 * gib)};
  memory::Pool pool = memory::size_pool(r.model, r.gpu, r.options);
  pool.num_gpu_blocks = blocks;
  return pool;
}

LengthMix mix(std::vector<LengthMix::Row> rows) {
  LengthMix m;
  m.rows = std::move(rows);
  m.description = "rows";
  return m;
}

// What a running request holds at a random step of its life: need -> chance.
std::map<std::int64_t, double> held(const memory::Pool& pool, const LengthMix& m) {
  const kvsim::memory::Holding holding(pool);
  std::map<std::int64_t, double> chances;
  double steps = 0;
  for (const auto& row : m.rows)
    for (std::int64_t k = 1; k <= row.output; ++k) {
      chances[static_cast<std::int64_t>(holding.need(row.prompt + k - 1))] += row.weight;
      steps += row.weight;
    }
  for (auto& [need, chance] : chances) chance /= steps;
  return chances;
}

// Chance that n independent requests hold at most `capacity`, by convolution.
double chance_that_fit(const std::map<std::int64_t, double>& one, std::int64_t n,
                       std::int64_t capacity) {
  const auto top = static_cast<std::size_t>(capacity);
  std::vector<double> sum(top + 1, 0.0);
  sum[0] = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> next(top + 1, 0.0);
    for (std::size_t s = 0; s <= top; ++s)
      if (sum[s] > 0)
        for (const auto& [need, chance] : one)
          if (s + static_cast<std::size_t>(need) <= top)
            next[s + static_cast<std::size_t>(need)] += sum[s] * chance;
    sum = std::move(next);
  }
  double total = 0;
  for (double p : sum) total += p;
  return total;
}

}  // namespace

TEST_CASE("requests of one fixed length fit as often as their blocks go into the pool") {
  const memory::Pool pool = small_pool(1001);
  const AtLengths a = at_lengths(pool, mix({{4000, 1, 1}}));
  CHECK(a.unit == "blocks");
  CHECK(a.capacity == 1000);
  CHECK(a.mean_held == 250);
  CHECK(a.deviation_held == 0);
  CHECK(a.steady == doctest::Approx(4));
  CHECK(a.safe == 4);
  CHECK(a.at_peak == 4);
  CHECK(a.all_longest == 4);
}

TEST_CASE("a growing request holds the mean of its blocks over its steps") {
  // 32 tokens of prompt and 33 steps: 1 step with 2 blocks, 16 with 3, 16 with 4.
  const AtLengths a = at_lengths(small_pool(1001), mix({{32, 33, 1}}));
  CHECK(a.mean_held == doctest::Approx((2.0 + 16 * 3 + 16 * 4) / 33));
  CHECK(a.mean_full == 4);
}

TEST_CASE("long answers are met more often than short ones") {
  const AtLengths a = at_lengths(small_pool(1001), mix({{16, 1, 1}, {160, 9, 1}}));
  // Nine steps of ten belong to the long one: 1 block, then 10 (one step) and 11.
  CHECK(a.mean_held == doctest::Approx((1.0 + 10 + 8 * 11) / 10));
}

TEST_CASE("the safe number agrees with an exact convolution within one request") {
  const LengthMix m = mix({{100, 200, 3}, {400, 50, 2}, {900, 400, 1}});
  for (std::int64_t blocks : {401, 1001, 2001}) {
    const memory::Pool pool = small_pool(blocks);
    const AtLengths a = at_lengths(pool, m);
    const auto one = held(pool, m);
    double mean = 0;
    for (const auto& [need, chance] : one) mean += static_cast<double>(need) * chance;
    CHECK(a.mean_held == doctest::Approx(mean));
    std::int64_t exact = 0;
    while (chance_that_fit(one, exact + 1, blocks - 1) >= 0.95) ++exact;
    CAPTURE(blocks);
    CHECK(std::abs(a.safe - exact) <= 1);
    CHECK(a.safe <= static_cast<std::int64_t>(a.steady));
    CHECK(a.all_longest <= a.at_peak);
  }
}

TEST_CASE("the mean held agrees with requests met at random moments") {
  for (const char* model : {"llama-3.1-8b", "gemma-3-27b", "qwen3-next-80b-a3b"}) {
    const memory::Pool pool = small_pool(5000, model);
    const LengthMix m = *parse_length_mix("2000+-1500:300+-300");
    const AtLengths a = at_lengths(pool, m);
    const kvsim::memory::Holding holding(pool);
    random::Stream stream(1, "moments", 0);
    double sum = 0;
    constexpr int draws = 40000;
    for (int i = 0; i < draws; ++i) {
      // A request in proportion to its steps, then one of them.
      while (true) {
        const auto last = static_cast<std::int64_t>(m.rows.size()) - 1;
        const auto& row = m.rows[static_cast<std::size_t>(stream.uniform_integer(0, last))];
        if (stream.uniform() * 6000 > static_cast<double>(row.output)) continue;
        const std::int64_t k = stream.uniform_integer(0, row.output - 1);
        sum += holding.need(row.prompt + k);
        break;
      }
    }
    CAPTURE(model);
    CHECK(sum / draws == doctest::Approx(a.mean_held).epsilon(0.02));
  }
}

TEST_CASE("requests longer than max model len are left out and counted") {
  Request r = request("llama-3.1-8b", "h200-sxm");
  r.options.max_model_len = 1000;
  const memory::Pool pool = memory::size_pool(r.model, r.gpu, r.options);
  const AtLengths a = at_lengths(pool, mix({{500, 100, 3}, {990, 11, 1}}));
  CHECK(a.refused == 0.25);
  CHECK(a.mean_prompt_tokens == 500);
  CHECK_THROWS_AS(at_lengths(pool, mix({{990, 11, 1}})), InputError);
}

TEST_CASE("a length distribution has the mean and deviation it was given") {
  const LengthMix m = *parse_length_mix("3000+-1000:500");
  double mean = 0, square = 0;
  for (const auto& row : m.rows) {
    mean += static_cast<double>(row.prompt) / static_cast<double>(m.rows.size());
    square += std::pow(static_cast<double>(row.prompt), 2) / static_cast<double>(m.rows.size());
    CHECK(row.output == 500);
  }
  CHECK(mean == doctest::Approx(3000).epsilon(0.01));
  CHECK(std::sqrt(square - mean * mean) == doctest::Approx(1000).epsilon(0.03));
}

TEST_CASE("lengths are read in each of their forms and nothing else") {
  CHECK(parse_length_mix("4096")->rows.size() == 1);
  CHECK(parse_length_mix("4096")->rows.front().output == 1);
  CHECK(parse_length_mix("1000:200")->rows.front().output == 200);
  CHECK(parse_length_mix("1000+-0:200")->rows.size() == 1);
  for (const char* text :
       {"", "0", "-5", "10:", ":10", "10+-", "10+-x", "1:2:3", "trace.jsonl", "1.5"})
    CHECK_FALSE(parse_length_mix(text));
}
