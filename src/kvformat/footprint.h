#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kvformat/kv_dtype.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"
#include "units/units.h"

// Bytes that a model's KV takes on one GPU: per token, per sequence, per block.
namespace kvsim::kvformat {

// One layer group's share on one GPU of a tensor-parallel group.
struct GroupFootprint {
  std::string name;
  spec::AttentionKind attention = spec::AttentionKind::full;
  std::int64_t layers = 0;            // layers of the group on this pipeline stage that own KV
  std::int64_t window = 0;            // tokens a sequence can hold at most; 0 = unlimited
  double bytes_per_token_layer = 0;   // growing (or windowed) bytes per token and layer, scales included
  double bytes_per_sequence_layer = 0;  // constant bytes per sequence and layer (recurrent state)
  double extra_per_sequence_layer = 0;  // compressor state
};

struct Footprint {
  std::vector<GroupFootprint> groups;
  double bytes_per_token = 0;           // growing part: groups without a window
  double bytes_per_sequence = 0;        // constant part: windows full, recurrent states
  double bytes_per_sequence_extra = 0;  // compressor state
  // KV of one sequence of `tokens` tokens.
  Bytes sequence_bytes(Tokens tokens) const;
};

// `stage` counts pipeline stages from 0; layers are split as evenly as possible, earlier stages
// taking... see stage_layers(). Attention heads are split over tensor_parallel_size and replicated
// when it exceeds num_kv_heads; an MLA latent is replicated on every rank.
Footprint footprint(const spec::ModelSpec& model, const KvDtype& dtype, const spec::ParallelPlan& plan, int stage = 0,
                    std::optional<spec::DType> state_dtype = std::nullopt);

// Layers [first, last) of a pipeline stage, as vLLM splits them: num_layers / pp each, the
// remainder one each to the stages before the last, counted from the last but one.
struct LayerRange {
  std::int64_t first = 0, last = 0;
};
LayerRange stage_layers(std::int64_t num_layers, int pipeline_parallel_size, int stage);

}  // namespace kvsim::kvformat
