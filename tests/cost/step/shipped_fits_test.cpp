#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <thread>

#include "cost/step/step_cost.h"
#include "cost/step_fill.h"
#include "spec/weights.h"
#include "support/allocations.h"

// Step times of catalog models with the fits that ship: what must hold whatever the fits are.

using namespace kvsim;
using namespace kvsim::cost;

namespace {

struct Case {
  const char *model, *gpu;
  int tp = 1, dp = 1;
  Framework framework = Framework::vllm;
  const char* kv = "bfloat16";
};
// Dense, dense fp8, sliding window, experts, latent attention, recurrent, mxfp4 experts, a GPU
// without fits of its own.
const std::vector<Case> cases{
    {"llama-3.1-8b", "h100-sxm"},
    {"llama-3.1-70b-fp8", "h200-sxm", 2, 1, Framework::trtllm, "fp8_e4m3"},
    {"gemma-3-12b", "a100-sxm-80g", 1, 1, Framework::vllm},
    {"mixtral-8x7b", "h100-sxm", 2},
    {"qwen3-30b-a3b", "h100-sxm", 1, 1, Framework::sglang},
    {"deepseek-r1", "b200-sxm", 8, 1, Framework::vllm},
    {"deepseek-r1", "h200-sxm", 1, 8, Framework::sglang},
    {"qwen3-next-80b-a3b", "h100-sxm", 4},
    {"gpt-oss-120b", "h200-sxm", 1},
    {"llama-3.1-8b", "l4"},
    {"llama-3.1-8b", "h20-sxm"},
};

struct Built {
  spec::ModelSpec model;
  spec::GpuSpec gpu;
  FittedOptions options;
  std::unique_ptr<CostModel> cost;
};
const CostBook& book() {
  static const spec::Catalog catalog;
  static const CostBook all(catalog);
  return all;
}
Built build(const Case& c, HostProfile host = {}) {
  static const spec::Catalog catalog;
  Built b;
  b.model = catalog.model(c.model), b.gpu = catalog.gpu(c.gpu);
  RooflineOptions& d = b.options.deployment;
  d.plan.tensor_parallel_size = c.tp, d.plan.data_parallel_size = c.dp;
  d.plan.enable_expert_parallel = c.dp > 1;
  d.kv_dtype = *kvformat::find_kv_dtype(c.kv), d.cuda_graph_tokens = 512;
  b.options.framework = c.framework, b.options.host = host;
  b.cost = make_fitted(b.model, b.gpu, b.options, book().of(b.gpu));
  return b;
}
std::string name(const Case& c) {
  return fmt::format("{} on {} tp {} dp {}", c.model, c.gpu, c.tp, c.dp);
}

StepShape any_shape(const spec::ModelSpec& model, std::mt19937_64& random) {
  const StepFill fill(model);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  StepShape s;
  const std::int64_t kind = below(3), decodes = kind == 1 ? 0 : 1 + below(200);
  const std::int64_t queries = 1 + (below(4) == 0 ? below(3) : 0);
  for (std::int64_t i = 0; i < decodes; ++i)
    fill.add_decode(s, 1 + below(20'000), queries, queries);
  for (std::int64_t i = kind == 0 ? 0 : 1 + below(4); i > 0; --i)
    fill.add_chunk(s, below(2) * below(8000), 2 + below(6000), below(2));
  return s;
}

}  // namespace

TEST_CASE("Every kind of model has fitted steps on GPUs with and without fits of their own") {
  for (const Case& c : cases) {
    CAPTURE(name(c));
    const Built b = build(c);
    REQUIRE(b.cost);
    CHECK(b.cost->source() == Source::fitted);
    CHECK(b.cost->spread({}).below > 0);
    CHECK(b.cost->spread({}).above < 1.5);
  }
}

TEST_CASE("The bill of any step adds up to the time of the step") {
  std::mt19937_64 random(7);
  for (const Case& c : cases) {
    CAPTURE(name(c));
    const Built b = build(c, {1.05, 1.1, 300, 5, 400, 0});
    REQUIRE(b.cost);
    for (int i = 0; i < 40; ++i) {
      const StepShape s = any_shape(b.model, random);
      const StepBill bill = b.cost->bill(s);
      double sum = 0;
      for (const OperatorTime& line : bill.operators) {
        CAPTURE(line.name);
        CHECK(line.seconds > 0);
        CHECK(std::isfinite(line.seconds));
        sum += line.seconds;
      }
      CHECK(bill.seconds == b.cost->step_seconds(s));
      CHECK(sum == doctest::Approx(bill.seconds).epsilon(1e-9));
    }
  }
}

TEST_CASE("A step takes the same time when asked again and from two threads at once") {
  for (const Case& c : cases) {
    CAPTURE(name(c));
    const Built b = build(c), other = build(c);
    REQUIRE(b.cost);
    std::mt19937_64 random(11);
    std::vector<StepShape> shapes;
    for (int i = 0; i < 60; ++i) shapes.push_back(any_shape(b.model, random));
    std::vector<double> alone, one(shapes.size()), two(shapes.size());
    for (const StepShape& s : shapes) alone.push_back(other.cost->step_seconds(s));
    {
      std::jthread first([&] {
        for (std::size_t i = 0; i < shapes.size(); ++i) one[i] = b.cost->step_seconds(shapes[i]);
      });
      std::jthread second([&] {
        for (std::size_t i = shapes.size(); i-- > 0;) two[i] = b.cost->step_seconds(shapes[i]);
      });
    }
    CHECK(one == alone);
    CHECK(two == alone);
    for (std::size_t i = 0; i < shapes.size(); ++i)
      CHECK(other.cost->step_seconds(shapes[i]) == alone[i]);
  }
}

TEST_CASE("A step time allocates nothing") {
  for (const Case& c : cases) {
    CAPTURE(name(c));
    const Built b = build(c);
    REQUIRE(b.cost);
    std::mt19937_64 random(3);
    std::vector<StepShape> shapes;
    for (int i = 0; i < 20; ++i) shapes.push_back(any_shape(b.model, random));
    const std::size_t before = kvsim::testing::allocations();
    double sum = 0;
    for (const StepShape& s : shapes) sum += b.cost->step_seconds(s);
    CHECK(kvsim::testing::allocations() == before);
    CHECK(sum > 0);
  }
}

TEST_CASE("Decode takes no less time by over one twentieth as context or batch grow") {
  for (const Case& c : cases) {
    CAPTURE(name(c));
    const Built b = build(c);
    REQUIRE(b.cost);
    for (const std::int64_t batch : {1, 4, 16, 64, 256}) {
      double most = 0;
      for (std::int64_t context = 100; context < 100'000; context = context * 5 / 4) {
        CAPTURE(batch);
        CAPTURE(context);
        const double t = b.cost->step_seconds(decode_shape(b.model, context, batch));
        CHECK(t >= 0.95 * most);
        most = std::max(most, t);
      }
    }
    for (const std::int64_t context : {500, 4000, 32'000}) {
      double most = 0;
      for (std::int64_t batch = 1; batch <= 512; batch += std::max<std::int64_t>(1, batch / 6)) {
        CAPTURE(batch);
        CAPTURE(context);
        const double t = b.cost->step_seconds(decode_shape(b.model, context, batch));
        CHECK(t >= 0.95 * most);
        most = std::max(most, t);
      }
    }
  }
}

TEST_CASE("Prefill takes no less time by over one twentieth as prompts grow") {
  for (const Case& c : cases) {
    CAPTURE(name(c));
    const Built b = build(c);
    REQUIRE(b.cost);
    double most = 0;
    for (std::int64_t tokens = 16; tokens < 32'000; tokens = tokens * 6 / 5) {
      CAPTURE(tokens);
      const double t = b.cost->step_seconds(prefill_shape(b.model, tokens));
      CHECK(t >= 0.95 * most);
      most = std::max(most, t);
    }
  }
}

TEST_CASE("No step reads the weights faster than the memory can") {
  using spec::WeightKind;
  for (const Case& c : cases) {
    CAPTURE(name(c));
    const Built b = build(c);
    REQUIRE(b.cost);
    const spec::WeightBytes w =
        spec::weight_bytes(b.model, b.options.deployment.plan, 0, b.model.num_layers);
    double bytes = 0;  // what each step reads whole
    for (const WeightKind kind :
         {WeightKind::attention, WeightKind::recurrent, WeightKind::dense_mlp, WeightKind::lm_head})
      bytes += w.by_kind[static_cast<std::size_t>(kind)];
    const double least = bytes / static_cast<double>(b.gpu.memory_bandwidth.value());
    CHECK(b.cost->step_seconds(decode_shape(b.model, 100, 1)) >= least);
    CHECK(b.cost->step_seconds(prefill_shape(b.model, 16)) >= least);
  }
}
