#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kvformat/kv_dtype.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"
#include "units/units.h"

// Bytes that a model's KV takes on one GPU: per token, per sequence, per block. All figures are
// dyadic fractions below 2^53, so the doubles are exact.
namespace kvsim::kvformat {

// One layer group's share on one GPU of a tensor-parallel group.
struct GroupFootprint {
  std::string name;
  spec::AttentionKind attention = spec::AttentionKind::full;
  int group = 0;            // index in ModelSpec::layer_groups
  std::int64_t layers = 0;  // layers of the group on this pipeline stage that keep something
  std::int64_t window = 0;  // tokens a sequence can hold at most; 0 = unlimited
  double bytes_per_token_layer =
      0;  // growing (or windowed) bytes per token and layer, scales included
  std::int64_t index_layers = 0;        // layers that keep indexer keys
  double index_bytes_per_token = 0;     // per such layer
  double bytes_per_sequence_layer = 0;  // constant bytes per sequence and layer: full window, state
  double extra_per_sequence_layer = 0;  // compressor state
  std::int64_t wide_tokens = 0;         // newest tokens kept in 16 bits (KIVI residual)
  double wide_bytes_per_token_layer = 0;

  // All layers together.
  double bytes_per_token() const {
    return static_cast<double>(layers) * bytes_per_token_layer +
           static_cast<double>(index_layers) * index_bytes_per_token;
  }
  // One sequence of `tokens` tokens, compressor state excluded.
  double sequence_bytes(double tokens) const;
};

struct Footprint {
  std::vector<GroupFootprint> groups;   // those that keep something on this stage
  double bytes_per_token = 0;           // growing part: groups without a window
  double bytes_per_sequence = 0;        // constant part: windows full, recurrent states
  double bytes_per_sequence_extra = 0;  // compressor state
  // KV of one sequence of `tokens` tokens, compressor state included.
  Bytes sequence_bytes(Tokens tokens) const;
};

struct FootprintOptions {
  spec::ParallelPlan plan;
  int stage = 0;                           // pipeline stage, from 0
  std::optional<spec::DType> state_dtype;  // recurrent state; default: the model's
};

// Attention heads are split over tensor_parallel_size and replicated when it exceeds num_kv_heads;
// an MLA latent (and a single shared head) is kept whole on every rank; recurrent states are split.
Footprint footprint(const spec::ModelSpec& model, const KvDtype& dtype,
                    const FootprintOptions& options = {});

// What one layer of a group reads for one cached token (one compressed entry) on one rank: the
// entry itself and its indexer key. Also for groups that read another group's KV.
struct TokenBytes {
  double entry = 0, index = 0;
};
TokenBytes token_bytes(const spec::LayerGroup& group, const KvDtype& dtype,
                       int tensor_parallel_size);

// Layers [first, last) of a pipeline stage, as vLLM splits them: num_layers / pp each, the
// remainder one each to the stages before the last, counted from the last but one.
struct LayerRange {
  std::int64_t first = 0, last = 0;
};
LayerRange stage_layers(std::int64_t num_layers, int pipeline_parallel_size, int stage);
// The same for a plan, which may say how many layers each stage gets.
LayerRange stage_layers(std::int64_t num_layers, const spec::ParallelPlan& plan, int stage);

// K and V heads on one rank: num_kv_heads / tp, at least one.
std::int64_t kv_heads_per_rank(std::int64_t num_kv_heads, int tensor_parallel_size);

// State of one recurrent layer on one rank. `extra_columns` widens the convolution window, one
// column per speculative token.
Bytes recurrent_state_bytes(const spec::RecurrentState& state, int tensor_parallel_size,
                            std::optional<spec::DType> state_dtype = std::nullopt,
                            std::int64_t extra_columns = 0);

// Why the plan cannot hold this model ("tensor parallel size 3 does not divide 64 attention
// heads"); empty when it can.
std::string parallel_problem(const spec::ModelSpec& model, const spec::ParallelPlan& plan);

}  // namespace kvsim::kvformat
