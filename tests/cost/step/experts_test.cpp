#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cost/step/fitted_step.h"
#include "cost/step/rules.h"
#include "cost/step/toy_library.h"
#include "cost/step_fill.h"

using namespace kvsim;
using namespace kvsim::cost;
using namespace kvsim::cost::testing;

namespace {

spec::ModelSpec tiny_experts(std::int64_t shared) {
  spec::ModelSpec m = tiny_model();
  m.intermediate_size = 0;
  m.moe.emplace();
  m.moe->num_experts = 16, m.moe->num_experts_per_tok = 2, m.moe->moe_intermediate_size = 512;
  m.moe->num_shared_experts = shared;
  return m;
}

double product_us(double m, double n, double k) {
  return toy_gemm.floor_us + std::max(2 * (n * k + m * k + m * n) / (toy_gemm.gb_per_s * 1e3),
                                      2 * m * n * k / (toy_gemm.tflops * 1e6));
}

struct Fixture {
  spec::Catalog catalog;
  spec::GpuSpec gpu = catalog.gpu("h100-sxm");
  CostLibrary library{catalog, {toy_file()}};
  std::unique_ptr<CostModel> make(const spec::ModelSpec& m, const FittedOptions& o) {
    auto cost = make_fitted(m, gpu, o, library);
    REQUIRE(cost);
    return cost;
  }
  static const OperatorTime* line(const StepBill& bill, const std::string& name) {
    for (const OperatorTime& l : bill.operators)
      if (l.name == name) return &l;
    return nullptr;
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture,
                  "A shared expert is free in small decodes and paid for above and in prefill") {
  const spec::ModelSpec with = tiny_experts(1), without = tiny_experts(0);
  const auto a = make(with, toy_options()), b = make(without, toy_options());
  const auto more = [&](const StepShape& s) {
    return 1e6 * (a->step_seconds(s) - b->step_seconds(s));
  };
  const auto shared = [](double t) {
    return 4 * (product_us(t, 1024, 1024) + product_us(t, 1024, 512));
  };
  CHECK(more(decode_shape(with, 1000, 256)) == doctest::Approx(0));
  CHECK(more(decode_shape(with, 1000, 272)) == doctest::Approx(shared(272)));
  CHECK(more(prefill_shape(with, 256)) == doctest::Approx(shared(256)));
}

TEST_CASE_FIXTURE(Fixture, "Routed experts of a small step are those that its tokens touch") {
  const spec::ModelSpec m = tiny_experts(0);
  const StepBill bill = make(m, toy_options())->bill(decode_shape(m, 1000, 8));
  const double touched = 16 * (1 - std::pow(1 - 2.0 / 16, 8)), rows = 8 * 2;
  const double bytes = touched * 3 * 1024 * 512 * 2 + rows * (1024 * 4 + 512 * 6);
  const double flops = 2 * rows * 3 * 1024 * 512;
  const double one = 29 + std::max(bytes / 1000e3, flops / 200e6);
  REQUIRE(line(bill, "experts"));
  CHECK(1e6 * line(bill, "experts")->seconds == doctest::Approx(4 * one));
  CHECK(line(bill, "experts")->calls == 16);
}

TEST_CASE_FIXTURE(Fixture,
                  "Expert parallel ranks hold a share of the experts for all ranks' tokens") {
  const spec::ModelSpec m = tiny_experts(0);
  FittedOptions o = toy_options(1, 4);
  o.deployment.plan.enable_expert_parallel = true;
  const StepBill bill = make(m, o)->bill(decode_shape(m, 1000, 8));
  const double tokens = 8 * 4, local = 4;
  const double touched = local * (1 - std::pow(1 - 2.0 / 16, tokens)), rows = tokens * 2 / 4;
  const double bytes = touched * 3 * 1024 * 512 * 2 + rows * (1024 * 4 + 512 * 6);
  const double one = 29 + std::max(bytes / 1000e3, 2 * rows * 3 * 1024 * 512 / 200e6);
  CHECK(1e6 * line(bill, "experts")->seconds == doctest::Approx(4 * one));
  // Attention is data parallel: no reduction there, one exchange of all tokens around the experts.
  CHECK(line(bill, "all_reduce") == nullptr);
  const double exchange =
      step::exchange_factor * (9 + 2 * 0.75 * 2 * 1024 * tokens / 120e3) + step::exchange_extra_us;
  CHECK(1e6 * line(bill, "expert_exchange")->seconds == doctest::Approx(4 * exchange));
}
