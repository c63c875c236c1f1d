#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "cost/operators/form.h"

using namespace kvsim::cost;

namespace {

ExpertExchange call(double tokens, double nodes = 1, double sms = 20) {
  ExpertExchange s;
  s.low_latency = sms == 0;
  s.nodes = nodes, s.tokens = tokens, s.hidden = 7168, s.topk = 8, s.n_experts = 256, s.sms = sms;
  return s;
}

double us(std::string_view form, const ExpertExchange& s, const std::vector<double>& p) {
  const Form* f = find_form("moe_a2a", form);
  REQUIRE(f);
  REQUIRE(f->parameters.size() == p.size());
  Device d;
  d.sms = 132;
  return f->microseconds(s, d, p, Buffers::cold);
}

// Ranks that hold at least one of topk experts, by going over every pick of ranks.
double ranks_by_counting(int ranks, int topk) {
  std::vector<double> chance(static_cast<std::size_t>(ranks) + 1, 0);
  chance[0] = 1;
  for (int k = 0; k < topk; ++k)
    for (std::size_t n = chance.size() - 1; n > 0; --n)
      chance[n] = chance[n] * static_cast<double>(n) / ranks +
                  chance[n - 1] * (ranks - static_cast<double>(n) + 1) / ranks,
      chance[n - 1] = n == 1 ? 0 : chance[n - 1];
  double mean = 0;
  for (std::size_t n = 0; n < chance.size(); ++n) mean += static_cast<double>(n) * chance[n];
  return mean;
}

const std::vector<double> normal{25, 10, 5, 700, 28, 1};
const std::vector<double> nodes{25, 10, 5, 700, 28, 1, 8, 1.5, 40, 0.8, 0.9};
const std::vector<double> low_latency{12, 2, 5, 0.05, 300, 1, 11, 1.5, 45, 0.8};

}  // namespace

TEST_CASE("a dispatch sends a token once to every rank that holds one of its experts") {
  // With a sum of floor and transfer, and one without a cost per token, bytes and floors are apart.
  std::vector<double> p = normal;
  p[2] = 1e-9;
  const double rate = 1 / std::sqrt(1 / std::pow(20 * 28.0, 2) + 1 / (700.0 * 700));
  const double bytes = 4096 * 7168 * (1 + 4.0 / 128) * ranks_by_counting(8, 8);
  CHECK(us("normal", call(4096), p) ==
        doctest::Approx(25 + 10 * 0.7168 + bytes / (1e3 * rate)).epsilon(1e-9));
  ExpertExchange back = call(4096);
  back.dispatch = false;
  const double floor = 25 + 10 * 0.7168;
  CHECK((us("normal", back, p) - floor) / (us("normal", call(4096), p) - floor) ==
        doctest::Approx(2 / (1 + 4.0 / 128)));
}

TEST_CASE("an exchange costs no less for more tokens or nodes or for fewer SMs") {
  for (const double n : {1.0, 2.0, 4.0, 8.0})
    for (const double sms : {0.0, 4.0, 12.0, 24.0}) {
      const bool quick = sms == 0;
      const auto form = quick ? "low_latency_nodes" : "normal_nodes";
      const auto& p = quick ? low_latency : nodes;
      double before = 0;
      for (double tokens = 1; tokens < 1e5; tokens *= 4) {
        const double t = us(form, call(tokens, n, sms), p);
        CHECK(t > before);
        if (n > 1) CHECK(t > us(form, call(tokens, n / 2, sms), p));
        if (sms > 4) CHECK(t < us(form, call(tokens, n, sms - 4), p));
        before = t;
      }
    }
}

TEST_CASE("in one node the network of an exchange has no say") {
  for (const double tokens : {1.0, 100.0, 10000.0}) {
    CHECK(us("normal", call(tokens), normal) == us("normal_nodes", call(tokens), nodes));
    const ExpertExchange quick = call(tokens, 1, 0);
    CHECK(us("low_latency", quick,
             std::vector<double>(low_latency.begin(), low_latency.begin() + 6)) ==
          us("low_latency_nodes", quick, low_latency));
    CHECK(us("low_latency_nodes", quick, low_latency) ==
          doctest::Approx(12 + 2 * 0.7168 + 5 * 0.256 + 0.4 +
                          tokens * 7168 * (1 + 4.0 / 128) * 8 / 300e3));
  }
}

TEST_CASE("kernels whose SMs nobody chose take the twenty of DeepEP") {
  ExpertExchange s = call(512);
  s.sms = 0;
  CHECK(us("normal", s, normal) == us("normal", call(512, 1, 20), normal));
  s.sms = 19;
  CHECK(us("normal", s, normal) > us("normal", call(512, 1, 20), normal));
}
