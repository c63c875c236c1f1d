#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cost/operators/form.h"
#include "cost/operators/routing.h"
#include "spec/catalog.h"
#include "support/allocations.h"

using namespace kvsim;
using namespace kvsim::cost;

namespace {

const Device& device(const char* id) {
  static const Device h100 = device_of(spec::Catalog().gpu("h100-sxm")),
                      l40s = device_of(spec::Catalog().gpu("l40s"));
  return std::string_view(id) == "l40s" ? l40s : h100;
}

ExpertMlp layer(double tokens, double skew, double ep = 1, const char* dtype = "fp8") {
  ExpertMlp s;
  s.tokens = tokens, s.hidden = 4096, s.inter = 1536, s.topk = 8, s.n_experts = 128;
  s.moe_ep = ep, s.skew = skew, s.format = *find_format(dtype);
  return s;
}

std::vector<double> starts(const Form& f) {
  std::vector<double> out;
  for (const Parameter& p : f.parameters) out.push_back(p.start);
  return out;
}

double parameter(const Form& f, const std::vector<double>& p, std::string_view name) {
  for (std::size_t i = 0; i < p.size(); ++i)
    if (f.parameters[i].name == name) return p[i];
  FAIL("no parameter ", name);
  return 0;
}

// The form once more for a balanced router, expert by expert and tile by tile.
double by_hand(const Form& f, const std::vector<double>& p, const ExpertMlp& s, const Device& d,
               double first_rows) {
  const auto at = [&](std::string_view name) { return parameter(f, p, name); };
  const double w = s.format.weight_bytes, a = s.format.activation_bytes;
  const double width = s.inter / s.moe_tp, matrices = s.gated ? 3 : 2;
  const double picks = s.tokens * s.topk / s.moe_ep;
  const double touched = std::min(s.n_experts / s.moe_ep, std::max(1.0, picks));
  double least = HUGE_VAL;
  for (double rows = first_rows; rows <= 128; rows += rows) {
    double tiles = 0, sum = 0;
    for (double expert = 0; expert < touched; ++expert)
      for (double row = 0; row < picks / touched; row += rows) ++tiles;
    for (const auto& [n, k] : {std::pair{(matrices - 1) * width, s.hidden}, {s.hidden, width}}) {
      double steps = 0, columns = 0;
      for (double byte = 0; byte < k * a; byte += 128) ++steps;
      for (double column = 0; column < n; column += 128) ++columns;
      const double step = 2 * rows * 128 * 128 / a / (at("rate") * 1e6 / d.sms) +
                          (rows + 128 * w / a) * 128 / (1e3 * at("shared"));
      const double share = tiles * columns / d.sms, whole = at("whole_waves");
      sum += std::max(1.0, (1 - whole) * share + whole * std::ceil(share)) *
             (steps * step + at("launch"));
    }
    least = std::min(least, sum);
  }
  const double memory = at("memory_floor") + touched * matrices * s.hidden * width * w /
                                                 (1e3 * at("bandwidth_share") * d.bandwidth);
  const double moved = picks * (s.hidden * (a + 2) + 2 * (matrices - 1) * width + width * a);
  const double power = at("power");
  return at("floor") + at("experts") * s.n_experts / s.moe_ep / 100 +
         at("picks") * s.tokens * s.topk / 1e4 + moved / (1e3 * at("activations")) +
         2 * s.tokens * s.hidden / (1e3 * at("output")) +
         std::pow(std::pow(least, power) + std::pow(memory, power), 1 / power);
}

}  // namespace

TEST_CASE("The form of experts agrees with tiles counted expert by expert") {
  for (const auto& [name, rows] : {std::pair{"grouped_16_128", 16.0}, {"grouped_128", 128.0}}) {
    const Form& f = *find_form("moe", name);
    const std::vector<double> p = starts(f);
    for (const char* dtype : {"bf16", "fp8", "nvfp4", "int4_wo"})
      for (const double ep : {1.0, 8.0})
        for (const double tokens : {2.0, 100.0, 1000.0, 8192.0})
          for (const bool gated : {true, false}) {
            ExpertMlp s = layer(tokens, 0, ep, dtype);
            s.gated = gated, s.moe_tp = 2;
            CAPTURE(dtype);
            CAPTURE(ep);
            CAPTURE(tokens);
            CHECK(f.microseconds(s, device("h100"), p, Buffers::cold) ==
                  doctest::Approx(by_hand(f, p, s, device("h100"), rows)));
          }
  }
}

TEST_CASE("Cold experts are no faster than replayed and than their bytes at the peak") {
  const Form& f = *find_form("moe", "grouped_16_128");
  const std::vector<double> p = starts(f);
  for (const char* gpu : {"h100", "l40s"})
    for (const double skew : {0.0, 1.2})
      for (const double ep : {1.0, 16.0})
        for (const double tokens : {0.7, 1.0, 30.0, 512.0, 9000.0}) {
          const ExpertMlp s = layer(tokens, skew, ep);
          const double cold = f.microseconds(s, device(gpu), p, Buffers::cold);
          CHECK(cold >= f.microseconds(s, device(gpu), p, Buffers::replayed));
          const double bytes = Routing(s, 1).touched() * 3 * s.hidden * s.inter;
          CHECK(cold >= bytes / (1e3 * device(gpu).bandwidth));
        }
}

TEST_CASE("Experts do not get faster with more tokens") {
  for (const Form& f : forms()) {
    if (f.kernel != "moe" || f.name == baseline_form) continue;
    const std::vector<double> p = starts(f);
    for (const double skew : {0.0, 1.01, 1.2})
      for (const double ep : {1.0, 8.0, 64.0}) {
        double highest = 0;
        for (double tokens = 0.5; tokens < 30000; tokens *= 1.03) {
          const double t =
              f.microseconds(layer(tokens, skew, ep), device("h100"), p, Buffers::cold);
          CAPTURE(skew);
          CAPTURE(ep);
          CAPTURE(tokens);
          CHECK(t >= 0.95 * highest);
          highest = std::max(highest, t);
        }
      }
  }
}

TEST_CASE("Skew spares weights at few tokens and costs a hot rank at many") {
  const Form& f = *find_form("moe", "grouped_16_128");
  const std::vector<double> p = starts(f);
  const auto us = [&](double tokens, double skew, double ep) {
    return f.microseconds(layer(tokens, skew, ep), device("h100"), p, Buffers::cold);
  };
  CHECK(us(16, 1.2, 1) < us(16, 0, 1));
  CHECK(us(8192, 1.2, 16) > 1.3 * us(8192, 0, 16));
}

TEST_CASE("Forms of experts allocate nothing") {
  for (const Form& f : forms()) {
    if (f.kernel != "moe") continue;
    const std::vector<double> p = starts(f);
    const Shape shape = layer(77, 1.2, 4);
    const Device& d = device("h100");
    const std::size_t before = testing::allocations();
    const double t = f.microseconds(shape, d, p, Buffers::cold) + f.features(shape)[0];
    CHECK(testing::allocations() == before);
    CHECK(t > 0);
  }
}
