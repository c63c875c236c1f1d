#include "cost/step/fitted_step.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cost/step/rules.h"
#include "cost/step/toy_library.h"
#include "cost/step_fill.h"

// Steps over plain roofline fits, against sums written out by hand.

using namespace kvsim;
using namespace kvsim::cost;
using namespace kvsim::cost::testing;

namespace {

constexpr double peak = 3350, share = 0.75;  // the H100's GB/s; what element-wise kernels reach

double toy_us(Toy t, double bytes, double flops) {
  return t.floor_us + std::max(bytes / (t.gb_per_s * 1e3), flops / (t.tflops * 1e6));
}
double product_us(double m, double n, double k) {
  return toy_us(toy_gemm, 2 * (n * k + m * k + m * n), 2 * m * n * k);
}
double small_us(double floor, double bytes) { return floor + bytes / (share * peak * 1e3); }

// Everything of the tiny model but attention and head, per token count.
double layers_us(double t) {
  const double layer = product_us(t, 1536, 1024) + product_us(t, 1024, 1024) +
                       product_us(t, 4096, 1024) + product_us(t, 1024, 2048) +
                       2 * small_us(3, t * 4 * 2 * 1024) + small_us(4, t * 2 * 2 * 1024) +
                       small_us(2.5, t * 3 * 2 * 2048);
  return 4 * layer + 2 * small_us(3, t * 2 * 2 * 1024);
}
double head_us(double rows) {
  return product_us(rows, 8000, 1024) + 10 + rows * 3 * 4 * 8000 / (share * peak * 1e3);
}
double decode_us(double batch, double kv) {
  return toy_us(toy_decode, batch * 128 * (2 * 2 * kv * 2 + 4 * 8), 4 * batch * 8 * kv * 128);
}
double prefill_us(double q, double pairs) {
  return toy_us(toy_prefill, 128 * (4 * q * (8 + 2) + 2 * q * 2 * 2), 4 * 8 * 128 * pairs);
}

struct Fixture {
  spec::Catalog catalog;
  spec::GpuSpec gpu = catalog.gpu("h100-sxm");
  CostLibrary library{catalog, {toy_file()}};
  spec::ModelSpec model = tiny_model();
  std::unique_ptr<CostModel> make(const FittedOptions& o) {
    auto cost = make_fitted(model, gpu, o, library);
    REQUIRE(cost);
    return cost;
  }
  double us(const CostModel& c, const StepShape& s) { return 1e6 * c.step_seconds(s); }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "A decode step of a small model is the sum of its kernels by hand") {
  const auto cost = make(toy_options());
  const double hand = layers_us(16) + 4 * decode_us(16, 1001) + head_us(16);
  CHECK(us(*cost, decode_shape(model, 1000, 16)) == doctest::Approx(hand).epsilon(1e-12));
}

TEST_CASE_FIXTURE(Fixture, "Requests of different lengths attend their mean context") {
  const auto cost = make(toy_options());
  StepShape s;
  const StepFill fill(model);
  for (int i = 0; i < 16; ++i) fill.add_decode(s, 200 * i);
  const double hand = layers_us(16) + 4 * decode_us(16, 1501) + head_us(16);
  CHECK(us(*cost, s) == doctest::Approx(hand).epsilon(1e-12));
}

TEST_CASE_FIXTURE(Fixture, "A prefill step of a small model is the sum of its kernels by hand") {
  const auto cost = make(toy_options());
  const double hand = layers_us(400) + 4 * prefill_us(400, 400 * 401 / 2.0) + head_us(1);
  CHECK(us(*cost, prefill_shape(model, 400)) == doctest::Approx(hand).epsilon(1e-12));
}

TEST_CASE_FIXTURE(Fixture, "A mixed step has both attentions and one prefill floor less") {
  const auto cost = make(toy_options());
  StepShape s = decode_shape(model, 1000, 8);
  StepFill(model).add_chunk(s, 0, 392, 1);
  const double core = prefill_us(392, 392 * 393 / 2.0) - prefill_us(1, 1);
  const double hand = layers_us(400) + 4 * (decode_us(8, 1001) + core) + head_us(9);
  CHECK(us(*cost, s) == doctest::Approx(hand).epsilon(1e-12));
}

TEST_CASE_FIXTURE(Fixture,
                  "Decode steps pay for the graph size above them and prefill for itself") {
  const auto cost = make(toy_options());
  const double hand = layers_us(24) + 4 * decode_us(17, 1001) + head_us(17);
  CHECK(us(*cost, decode_shape(model, 1000, 17)) == doctest::Approx(hand).epsilon(1e-12));
  CHECK(us(*cost, prefill_shape(model, 401)) > us(*cost, prefill_shape(model, 400)));
}

TEST_CASE_FIXTURE(Fixture, "Outside graphs a step takes at least its launches") {
  FittedOptions eager = toy_options();
  eager.deployment.enforce_eager = true;
  const auto cost = make(eager);
  // Four products, two norms, rope and cache, activation, attention in a layer; two at the ends.
  const double launches = step::default_launch_us * (4 * 9 + 2);
  const double hand = layers_us(1) + 4 * decode_us(1, 1001) + head_us(1);
  REQUIRE(hand < launches);
  CHECK(us(*cost, decode_shape(model, 1000, 1)) == doctest::Approx(launches).epsilon(1e-12));
  // Above vLLM's piecewise graphs.
  const auto graphs = make(toy_options());
  REQUIRE(layers_us(513) + 4 * prefill_us(513, 513 * 257) + head_us(1) < launches);
  CHECK(us(*graphs, prefill_shape(model, 513)) == doctest::Approx(launches).epsilon(1e-12));
  CHECK(us(*graphs, prefill_shape(model, 512)) < launches);
}

TEST_CASE_FIXTURE(Fixture, "The host profile scales the kernels and adds its times as documented") {
  FittedOptions o = toy_options();
  const auto bare = make(o);
  o.host = {1.1, 1.3, 500, 7, 900, 12345};
  const auto hosted = make(o);
  const StepShape decode = decode_shape(model, 1000, 16);
  CHECK(us(*hosted, decode) == doctest::Approx(1.1 * us(*bare, decode) + 500 + 16 * 7));
  StepShape mixed = decode_shape(model, 1000, 8);
  StepFill(model).add_chunk(mixed, 0, 100, 1);
  REQUIRE(1.3 * us(*bare, mixed) < 900);
  CHECK(us(*hosted, mixed) == doctest::Approx(900 + 500 + 9 * 7));
  // Longer kernels hide the launches.
  o.host.prefill_us = 1;
  CHECK(us(*make(o), mixed) == doctest::Approx(1.3 * us(*bare, mixed) + 500 + 9 * 7));
}

TEST_CASE_FIXTURE(Fixture, "An empty step takes no time") {
  FittedOptions o = toy_options();
  o.host.step_us = 500;
  CHECK(make(o)->step_seconds({}) == 0);
  CHECK(make(o)->bill({}).seconds == 0);
}

TEST_CASE_FIXTURE(Fixture, "Tensor parallel ranks share the products and reduce twice a layer") {
  const auto cost = make(toy_options(2));
  const double t = 16;
  const double reduce = 9 + t * 2 * 1024 / 120e3;  // 2 (n-1)/n = 1 of the bytes
  const double layer = product_us(t, 768, 1024) + product_us(t, 1024, 512) +
                       product_us(t, 2048, 1024) + product_us(t, 1024, 1024) +
                       2 * small_us(3, t * 4 * 2 * 1024) + small_us(4, t * 2 * 1024) +
                       small_us(2.5, t * 3 * 2048) + 2 * reduce;
  const double attention =
      toy_us(toy_decode, t * 128 * (2 * 1 * 1001 * 2 + 4 * 4), 4 * t * 4 * 1001 * 128);
  const double gather = 10 + t * 2 * 4000 / 450e3;  // the other rank's words
  const double head =
      product_us(t, 4000, 1024) + 10 + t * 12 * 8000 / (share * peak * 1e3) + gather;
  const double hand = 4 * (layer + attention) + 2 * small_us(3, t * 2 * 2 * 1024) + head;
  CHECK(us(*cost, decode_shape(model, 1000, 16)) == doctest::Approx(hand).epsilon(1e-12));
}

TEST_CASE_FIXTURE(Fixture, "Without a fit for products or attention there is no fitted step") {
  for (const char* kernel : {"gemm", "decode_attn", "prefill_attn"}) {
    CostFile file = toy_file();
    std::erase_if(file.operators, [&](const OperatorFit& f) { return f.kernel == kernel; });
    CHECK(make_fitted(model, gpu, toy_options(), CostLibrary(catalog, {file})) == nullptr);
  }
  CHECK(make_fitted(model, gpu, toy_options(), CostLibrary(catalog, {})) == nullptr);
  CHECK(make_fitted(model, gpu, toy_options(), library) != nullptr);
}

TEST_CASE_FIXTURE(Fixture, "Spread is positive and wider for another GPU's measurements") {
  const Spread own = make(toy_options())->spread({});
  CHECK(own.below >= ninety_percent * model_discrepancy);
  CHECK(own.above == own.below);
  // Same kernels, measured by another framework or on another part only.
  const CostLibrary framework(catalog, {toy_file("h100-sxm", "sglang")});
  const Spread other = make_fitted(model, gpu, toy_options(), framework)->spread({});
  CHECK(other.above > own.above);
  const CostLibrary sister(catalog, {toy_file("h200-sxm")});
  const Spread moved = make_fitted(model, gpu, toy_options(), sister)->spread({});
  CHECK(moved.above > own.above);
  const CostLibrary stranger(catalog, {toy_file("a100-sxm-80g")});
  CHECK(make_fitted(model, gpu, toy_options(), stranger)->spread({}).above >= moved.above);
}
