#include <benchmark/benchmark.h>

#include "cost/cost_model.h"
#include "cost/step/step_cost.h"
#include "cost/step_fill.h"
#include "spec/catalog.h"
#include "support/allocations.h"

// The time of one step: filling the shape with a batch of decodes, and asking the roofline or the
// fitted operators. Steady decode, whose context grows and whose token count stays, is what most
// steps of a simulation are.

using namespace kvsim;

namespace {

struct Deployment {
  spec::ModelSpec model;
  std::unique_ptr<cost::CostModel> cost;
};

Deployment deployment(const char* id) {
  const spec::Catalog catalog;
  Deployment result;
  result.model = catalog.model(id);
  cost::RooflineOptions options;
  options.plan.tensor_parallel_size = 4;
  options.kv_dtype = *kvformat::find_kv_dtype("bfloat16");
  result.cost = cost::make_roofline(result.model, catalog.gpu("h100-sxm"), options);
  return result;
}

void fill_shape(benchmark::State& state) {
  const Deployment d = deployment("llama-3.1-70b");
  const cost::StepFill fill(d.model);
  for (auto _ : state) {
    cost::StepShape shape;
    for (std::int64_t i = 0; i < state.range(0); ++i) fill.add_decode(shape, 500 + i);
    benchmark::DoNotOptimize(shape);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(fill_shape)->Arg(1)->Arg(256);

void roofline_step(benchmark::State& state, const char* id) {
  const Deployment d = deployment(id);
  const cost::StepShape shape = cost::decode_shape(d.model, 1000, 64);
  for (auto _ : state) benchmark::DoNotOptimize(d.cost->step_seconds(shape));
}
BENCHMARK_CAPTURE(roofline_step, dense, "llama-3.1-70b");

void fitted_decode(benchmark::State& state, const char* id, const char* gpu, int tp) {
  const spec::Catalog catalog;
  const cost::CostBook book(catalog);
  const spec::ModelSpec model = catalog.model(id);
  cost::FittedOptions options;
  options.deployment.plan.tensor_parallel_size = tp;
  options.deployment.kv_dtype = *kvformat::find_kv_dtype("bfloat16");
  options.deployment.cuda_graph_tokens = 512;
  const spec::GpuSpec part = catalog.gpu(gpu);
  const auto cost = cost::make_fitted(model, part, options, book.of(part));
  std::vector<cost::StepShape> shapes;
  for (std::int64_t context = 1000; context < 3000; ++context)
    shapes.push_back(cost::decode_shape(model, context, 64));
  benchmark::DoNotOptimize(cost->step_seconds(shapes[0]));
  const std::size_t before = testing::allocations();
  std::size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cost->step_seconds(shapes[at]));
    at = at + 1 < shapes.size() ? at + 1 : 0;
  }
  state.counters["allocations"] = static_cast<double>(testing::allocations() - before);
}
BENCHMARK_CAPTURE(fitted_decode, dense, "llama-3.1-70b", "h100-sxm", 4);
BENCHMARK_CAPTURE(fitted_decode, experts, "mixtral-8x7b", "h100-sxm", 2);
BENCHMARK_CAPTURE(fitted_decode, latent, "deepseek-r1", "b200-sxm", 8);
BENCHMARK_CAPTURE(fitted_decode, windows, "gemma-3-12b", "h100-sxm", 1);
BENCHMARK_CAPTURE(fitted_decode, recurrent, "qwen3-next-80b-a3b", "h100-sxm", 4);

}  // namespace
