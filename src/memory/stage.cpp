#include "memory/stage.h"

#include <fmt/format.h>

#include <cmath>

#include "memory/estimates.h"

namespace kvsim::memory {
namespace {

Bytes whole(double bytes) { return Bytes(static_cast<std::int64_t>(std::ceil(bytes))); }

spec::WeightBytes stage_weights(const spec::ModelSpec& model, const Options& o, int index) {
  const auto range = kvformat::stage_layers(model.num_layers, o.plan.pipeline_parallel_size, index);
  return spec::weight_bytes(model, o.plan, range.first, range.last);
}

}  // namespace

Stage measure_stage(const spec::ModelSpec& model, const spec::GpuSpec& gpu, const Options& o,
                    int index) {
  Stage s;
  s.index = index;
  s.footprint = kvformat::footprint(model, o.kv_dtype, {o.plan, index, o.state_dtype});
  for (double kind : stage_weights(model, o, index).by_kind) s.weights += whole(kind);
  s.activation = activation_estimate(model, o);
  s.non_torch = non_torch_estimate(gpu, o);
  s.graphs = graph_estimate(model, gpu, o);
  return s;
}

void add_weights(Ledger& ledger, const spec::ModelSpec& model, const Options& o,
                 const Stage& stage) {
  const spec::WeightBytes weights = stage_weights(model, o, stage.index);
  for (std::size_t i = 0; i < weights.by_kind.size(); ++i) {
    if (weights.by_kind[i] == 0) continue;
    const auto kind = static_cast<spec::WeightKind>(i);
    ledger.add("weights: " + std::string(spec::name(kind)), whole(weights.by_kind[i]),
               fmt::format("dimensions of {} at {:g} bits a weight", model.id,
                           spec::stored_bits(model, kind)));
  }
  ledger.weights = stage.weights;
}

}  // namespace kvsim::memory
