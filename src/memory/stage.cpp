#include "memory/stage.h"

#include "memory/weight_lines.h"

namespace kvsim::memory {
namespace {

Estimate stated_or(const std::optional<Bytes>& stated, Estimate estimate) {
  return stated ? Estimate{*stated, Bytes(0), "given"} : estimate;
}

}  // namespace

Stage measure_stage(const spec::ModelSpec& model, const spec::GpuSpec& gpu, const Options& o,
                    int index) {
  Stage s;
  s.index = index;
  s.footprint = kvformat::footprint(model, o.kv_dtype, {o.plan, index, o.state_dtype});
  s.weights = weight_lines(model, gpu, o, index);
  for (const LedgerLine& line : s.weights) s.weight_bytes += line.bytes;
  s.activation = stated_or(o.stated.activation, profile_run(model, o, index).peak());
  s.non_torch = stated_or(o.stated.non_torch, non_torch_estimate(gpu, o));
  s.graphs = stated_or(o.stated.cuda_graphs, graph_estimate(model, gpu, o));
  return s;
}

void add_weights(Ledger& ledger, const Stage& stage) {
  ledger.lines.insert(ledger.lines.end(), stage.weights.begin(), stage.weights.end());
  ledger.weights = stage.weight_bytes;
}

}  // namespace kvsim::memory
