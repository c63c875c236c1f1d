#include <benchmark/benchmark.h>

#include "cost/cost_model.h"
#include "cost/step_fill.h"
#include "spec/catalog.h"

// The time of one step: filling the shape with a batch of decodes, and asking the roofline.

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

}  // namespace
