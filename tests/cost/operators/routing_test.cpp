#include "cost/operators/routing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using namespace kvsim;
using namespace kvsim::cost;

namespace {

ExpertMlp layer(double tokens, double experts, double topk, double ep, double skew) {
  ExpertMlp s;
  s.tokens = tokens, s.n_experts = experts, s.topk = topk, s.moe_ep = ep, s.skew = skew;
  s.hidden = 4096, s.inter = 2048;
  return s;
}

// [0, 1), the same everywhere.
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : engine_(seed) {}
  double operator()() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

struct Counted {
  double picks = 0, touched = 0, tiles = 0;
};

// One draw of the benchmarks' router: shares from the density, rounded counts, what rounding left
// over or took too much of settled with the smallest, and the rank with most picks.
Counted draw(const ExpertMlp& s, double rows, Uniform& uniform) {
  const auto experts = static_cast<std::size_t>(s.n_experts);
  const double low = s.tokens * s.topk > s.n_experts ? 1 : 0.01,
               high = low == 1 ? 0.8 * s.tokens : 2, order = 1 - s.skew;
  std::vector<double> share(experts);
  for (double& x : share)
    x = std::pow(std::pow(low, order) + uniform() * (std::pow(high, order) - std::pow(low, order)),
                 1 / order);
  const double sum = std::accumulate(share.begin(), share.end(), 0.0);
  std::vector<double> count;
  for (const double x : share)
    count.push_back(std::min(s.tokens, std::round(x / sum * s.tokens * s.topk)));
  std::vector<std::size_t> ascending(experts);
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::ranges::stable_sort(ascending, {}, [&](std::size_t i) { return count[i]; });
  double left = s.tokens * s.topk - std::accumulate(count.begin(), count.end(), 0.0);
  for (std::size_t i = 0; left > 0; i = (i + 1) % experts)
    if (count[ascending[i]] < s.tokens) ++count[ascending[i]], --left;
  for (std::size_t i = 0; left < 0; i = (i + 1) % experts)
    if (count[ascending[i]] > 0) --count[ascending[i]], ++left;
  Counted best;
  const auto local = experts / static_cast<std::size_t>(s.moe_ep);
  for (std::size_t first = 0; first < experts; first += local) {
    Counted c;
    for (std::size_t i = first; i < first + local; ++i)
      c.picks += count[i], c.touched += count[i] > 0, c.tiles += std::ceil(count[i] / rows);
    if (c.picks > best.picks) best = c;
  }
  return best;
}

Counted mean_of_draws(const ExpertMlp& s, double rows, int n) {
  Counted sum;
  for (int i = 0; i < n; ++i) {
    Uniform uniform(static_cast<std::uint64_t>(i));
    const Counted c = draw(s, rows, uniform);
    sum.picks += c.picks / n, sum.touched += c.touched / n, sum.tiles += c.tiles / n;
  }
  return sum;
}

// Experts of a rank that uniform routing touches, mean over draws.
double uniform_touched(const ExpertMlp& s, int n) {
  double sum = 0;
  const auto experts = static_cast<std::size_t>(s.n_experts);
  const double local = s.n_experts / s.moe_ep;
  for (int i = 0; i < n; ++i) {
    Uniform uniform(static_cast<std::uint64_t>(i));
    std::vector<double> seen(experts);
    for (int t = 0; t < static_cast<int>(s.tokens); ++t) {
      std::vector<std::size_t> order(experts);
      std::iota(order.begin(), order.end(), std::size_t{0});
      for (std::size_t k = 0; k < static_cast<std::size_t>(s.topk); ++k) {
        const auto at = k + static_cast<std::size_t>(uniform() * static_cast<double>(experts - k));
        std::swap(order[k], order[at]);
        seen[order[k]] = 1;
      }
    }
    for (std::size_t e = 0; e < static_cast<std::size_t>(local); ++e) sum += seen[e];
  }
  return sum / n;
}

}  // namespace

TEST_CASE("A skewed router puts as much on its busiest rank as draws of it do") {
  for (const double skew : {1.01, 1.2})
    for (const auto& [experts, topk] : {std::pair{8.0, 2.0}, {128.0, 8.0}, {384.0, 8.0}})
      for (const double ep : {1.0, 8.0, experts / 2})
        for (const double tokens : {64.0, 1024.0, 16384.0}) {
          const ExpertMlp s = layer(tokens, experts, topk, ep, skew);
          if (tokens * topk <= experts * 2) continue;
          const Counted drawn = mean_of_draws(s, 64, 40);
          const Routing r(s, 1);
          CAPTURE(skew);
          CAPTURE(s.n_experts);
          CAPTURE(ep);
          CAPTURE(tokens);
          // One rank of few experts is the luck of few draws.
          const double close = ep == 1 ? 0.03 : 0.25;
          CHECK(r.picks() == doctest::Approx(drawn.picks).epsilon(close));
          CHECK(r.touched() == doctest::Approx(drawn.touched).epsilon(0.25));
          CHECK(r.tiles(6) == doctest::Approx(drawn.tiles).epsilon(ep == 1 ? 0.1 : 0.3));
        }
}

TEST_CASE("A balanced router touches what uniform routing does where picks are few or many") {
  for (const double ep : {1.0, 4.0}) {
    const ExpertMlp few = layer(1, 128, 8, ep, 0), many = layer(128, 128, 8, ep, 0);
    CHECK(Routing(few, 1).touched() == doctest::Approx(uniform_touched(few, 400)).epsilon(0.1));
    CHECK(Routing(many, 1).touched() == doctest::Approx(uniform_touched(many, 20)).epsilon(0.01));
    // Chance meets some experts twice; dealing in turn does not.
    const ExpertMlp between = layer(16, 128, 8, ep, 0);
    CHECK(Routing(between, 1).touched() == 128 / ep);
    CHECK(uniform_touched(between, 100) < 0.75 * 128 / ep);
  }
}

TEST_CASE("Picks of a rank lie between its mean and what its experts can take") {
  for (const double skew : {0.0, 0.6, 1.0, 1.2, 2.0, 3.0})
    for (const double ep : {1.0, 2.0, 16.0, 128.0})
      for (double tokens = 0.3; tokens < 40000; tokens *= 1.7) {
        const ExpertMlp s = layer(tokens, 128, 8, ep, skew);
        const Routing r(s, 1);
        CAPTURE(skew);
        CAPTURE(ep);
        CAPTURE(tokens);
        const double local = 128 / ep, all = tokens * 8;
        CHECK(r.picks() >= (1 - 1e-9) * all / ep);
        CHECK(r.picks() <= (1 + 1e-9) * std::min(all, tokens * local));
        CHECK(r.touched() > 0);
        CHECK(r.touched() <= local);
        for (const int doublings : {4, 7}) {
          const double rows = 1 << doublings;
          CHECK(r.tiles(doublings) >= r.touched() * (1 - 1e-9));
          CHECK(r.tiles(doublings) <= r.picks() / rows + r.touched() + 1e-9);
        }
      }
}

TEST_CASE("Heat moves the busiest rank of a skewed router and nothing of a balanced one") {
  const ExpertMlp even = layer(512, 256, 8, 8, 0), skewed = layer(512, 256, 8, 8, 1.2);
  CHECK(Routing(even, 0.5).picks() == Routing(even, 2).picks());
  CHECK(Routing(even, 1).picks() == 512);
  CHECK(Routing(skewed, 0.5).picks() < Routing(skewed, 2).picks());
}
