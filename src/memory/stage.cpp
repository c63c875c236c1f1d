#include "memory/stage.h"

#include <algorithm>
#include <utility>

#include "memory/weight_lines.h"

namespace kvsim::memory {
namespace {

Estimate stated_or(const std::optional<Bytes>& stated, Estimate estimate) {
  return stated ? Estimate{*stated, Bytes(0), "given"} : estimate;
}

// The drafter keeps its KV on the last stage, in layers like the model's attention layers or in
// those of a model of its own (group -1).
void add_drafter(kvformat::Footprint& fp, const Options& o) {
  std::vector<kvformat::GroupFootprint> drafts;
  if (o.draft_model) {
    drafts =
        kvformat::footprint(*o.draft_model, o.kv_dtype, {drafter_plan(o), 0, o.state_dtype}).groups;
    for (auto& g : drafts) g.group = -1;
  } else if (o.draft_layers > 0) {
    const auto grows = [](const kvformat::GroupFootprint& g) {
      return g.window == 0 && g.bytes_per_token_layer > 0;
    };
    const auto like = std::find_if(fp.groups.begin(), fp.groups.end(), grows);
    if (like == fp.groups.end()) return;
    drafts.push_back(*like);
    drafts.back().layers = o.draft_layers;
    drafts.back().index_layers = std::min(drafts.back().index_layers, o.draft_layers);
  }
  for (auto& g : drafts) {
    g.name = "drafter " + g.name;
    if (g.window == 0) fp.bytes_per_token += g.bytes_per_token();
    fp.bytes_per_sequence += static_cast<double>(g.layers) * g.bytes_per_sequence_layer;
    fp.bytes_per_sequence_extra += static_cast<double>(g.layers) * g.extra_per_sequence_layer;
    fp.groups.push_back(std::move(g));
  }
}

}  // namespace

Stage measure_stage(const spec::ModelSpec& model, const spec::GpuSpec& gpu, const Options& o,
                    int index) {
  Stage s;
  s.index = index;
  s.footprint = kvformat::footprint(model, o.kv_dtype, {o.plan, index, o.state_dtype});
  if (index == o.plan.pipeline_parallel_size - 1) add_drafter(s.footprint, o);
  s.weights = weight_lines(model, gpu, o, index);
  for (const LedgerLine& line : s.weights) s.weight_bytes += line.bytes;
  s.activation = stated_or(o.stated.activation, profile_run(model, o, index).peak());
  s.non_torch = stated_or(o.stated.non_torch, non_torch_estimate(gpu, o));
  s.non_torch.bytes += o.estimate_shift;
  s.graphs = stated_or(o.stated.cuda_graphs, graph_estimate(model, gpu, o, index));
  return s;
}

void add_weights(Ledger& ledger, const Stage& stage) {
  ledger.lines.insert(ledger.lines.end(), stage.weights.begin(), stage.weights.end());
  ledger.weights = stage.weight_bytes;
}

}  // namespace kvsim::memory
