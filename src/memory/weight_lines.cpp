#include "memory/weight_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kvformat/footprint.h"
#include "spec/parameters.h"
#include "spec/weights.h"
#include "units/format.h"

namespace kvsim::memory {
namespace {

double wide(std::int64_t n) { return static_cast<double>(n); }
Bytes whole(double bytes) { return Bytes(static_cast<std::int64_t>(std::ceil(bytes))); }
std::int64_t round_up(std::int64_t n, std::int64_t step) { return ceil_div(n, step) * step; }

void add_matrices(std::vector<LedgerLine>& lines, const spec::ModelSpec& model,
                  const spec::WeightBytes& weights, const std::string& prefix) {
  for (std::size_t i = 0; i < weights.by_kind.size(); ++i) {
    if (weights.by_kind[i] == 0) continue;
    const auto kind = static_cast<spec::WeightKind>(i);
    lines.push_back({prefix + std::string(spec::name(kind)),
                     whole(weights.by_kind[i]),
                     fmt::format("{:g} bits a weight", spec::stored_bits(model, kind)),
                     true,
                     {}});
  }
}

// vLLM's MXFP4 expert kernels want the hidden size in multiples of 256 and the intermediate size of
// a rank in multiples of 128 (layers/quantization/mxfp4.py, Marlin; 2025-08 and since).
double mxfp4_padding(const spec::ModelSpec& model, const Options& o, double expert_bytes) {
  if (model.quantization.method != "mxfp4" || !model.moe || o.rules.engine != Engine::vllm_v1)
    return 0;
  const std::int64_t ranks =
      o.plan.enable_expert_parallel ? 1 : std::max<std::int64_t>(spec::expert_ranks(o.plan), 1);
  const std::int64_t inner = ceil_div(model.moe->moe_intermediate_size, ranks);
  const double plain = wide(model.hidden_size) * wide(inner);
  const double padded = wide(round_up(model.hidden_size, 256)) * wide(round_up(inner, 128));
  return expert_bytes * (padded / plain - 1);
}

// Without FP8 units the kernel takes its scales per column: a 16-bit scale per 128 weights instead
// of one per 128 x 128 (vLLM's Marlin FP8).
double marlin_scales(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                     const spec::WeightBytes& weights) {
  if (model.quantization.method != "fp8_block" || gpu.fp8_tflops > 0 || gpu.vendor != "nvidia")
    return 0;
  double narrow = 0;
  for (std::size_t i = 0; i < weights.by_kind.size(); ++i)
    if (spec::stored_bits(model, static_cast<spec::WeightKind>(i)) < 16)
      narrow += weights.by_kind[i];
  return narrow * 2 / 128;
}

// cos and sin of every position in the model's dtype, once per width (Llama-3.1-8B: 32 MiB, the
// difference between its parameters and the 14.9888 GiB that vLLM prints).
double rotary_tables(const spec::ModelSpec& model, const Options& o) {
  if (o.rules.engine != Engine::vllm_v1 && o.rules.engine != Engine::sglang) return 0;
  std::vector<std::pair<std::int64_t, bool>> tables;
  for (const spec::LayerGroup& g : model.layer_groups) {
    const std::int64_t width = g.qk_rope_head_dim > 0 ? g.qk_rope_head_dim
                               : g.recurrent          ? 0
                               : g.compression        ? 64
                                                      : g.head_dim;
    // Windowed layers turn at another base.
    const std::pair<std::int64_t, bool> table{width, g.window > 0};
    if (width > 0 && std::find(tables.begin(), tables.end(), table) == tables.end())
      tables.push_back(table);
  }
  double elements = 0;
  for (const auto& t : tables) elements += wide(t.first) * wide(model.max_position_embeddings);
  return elements * spec::bits(model.dtype) / 8.0;
}

// Absorbed MLA multiplies by 16-bit copies of the latent's up-projections, kept beside them once
// the weights are loaded (vLLM's W_UK_T and W_UV, SGLang's w_kc and w_vc).
double absorbed_projections(const spec::ModelSpec& model, const Options& o,
                            kvformat::LayerRange range) {
  if (o.rules.engine != Engine::vllm_v1 && o.rules.engine != Engine::sglang) return 0;
  double elements = 0;
  for (std::int64_t layer = range.first; layer < range.last; ++layer) {
    const spec::LayerGroup& g = model.group_of(layer);
    if (g.attention != spec::AttentionKind::mla) continue;
    elements += wide(g.num_heads) / o.plan.tensor_parallel_size *
                wide(g.qk_nope_head_dim + g.value_dim()) * wide(g.kv_lora_rank);
  }
  return elements * 2;
}

// One decoder layer of the target's shape behind a projection of its hidden states; embedding and
// (eagle) head are the target's own, eagle3 brings a head of 32,000 words of its own.
double eagle_bytes(const spec::ModelSpec& model, const Options& o) {
  const double tp = o.plan.tensor_parallel_size, hidden = wide(model.hidden_size);
  const bool third = o.drafter == Drafter::eagle3;
  spec::ModelSpec plain = model;
  plain.quantization = {};
  double bytes = 0;
  for (const spec::Matrix& m :
       spec::attention_matrices(plain, plain.group_of(plain.num_layers - 1), o.plan))
    bytes += m.bytes() * (third && m.name == "qkv_gemm" ? 2 : 1);
  // The MLP is dense whatever the target's is.
  const double inner = wide(model.intermediate_size > 0 ? model.intermediate_size
                                                        : model.moe->moe_intermediate_size *
                                                              model.moe->num_experts_per_tok);
  bytes += 3 * hidden * inner / tp * 2;
  bytes += (third ? 3 : 2) * hidden * hidden / tp * 2;
  if (third) bytes += 32000 * hidden / tp * 2;
  return bytes;
}

// A layer like the model's last one behind a projection of two hidden states.
double mtp_bytes(const spec::ModelSpec& model, const Options& o) {
  const spec::LayerGroup& group = model.group_of(model.num_layers - 1);
  double bytes =
      2 * wide(model.hidden_size) * wide(model.hidden_size) * spec::bits(model.dtype) / 8;
  for (const spec::Matrix& m : spec::attention_matrices(model, group, o.plan)) bytes += m.bytes();
  const spec::MlpKind kind = model.moe ? spec::MlpKind::moe : spec::MlpKind::dense;
  for (const spec::Matrix& m : spec::mlp_matrices(model, group, kind, o.plan)) bytes += m.bytes();
  return bytes;
}

void add_drafter(std::vector<LedgerLine>& lines, const spec::ModelSpec& model, const Options& o,
                 bool last) {
  switch (o.drafter) {
    case Drafter::none:
    case Drafter::ngram:
      return;
    case Drafter::mtp: {
      if (!last) return;
      lines.push_back(
          {"weights: MTP",
           whole(mtp_bytes(model, o) * wide(model.num_mtp_layers)),
           fmt::format("{} multi-token prediction layer(s) of {}", model.num_mtp_layers, model.id),
           true,
           {}});
      return;
    }
    case Drafter::eagle:
    case Drafter::eagle3: {
      if (!last) return;
      const double bytes = eagle_bytes(model, o);
      lines.push_back({"weights: drafter", whole(bytes),
                       "estimate: one layer of the model's shape and its projection", true,
                       whole(bytes * 0.2)});
      return;
    }
    case Drafter::draft_model: {
      if (!last) return;
      const spec::ModelSpec& draft = *o.draft_model;
      add_matrices(lines, draft, spec::weight_bytes(draft, drafter_plan(o), 0, draft.num_layers),
                   "weights: drafter ");
      return;
    }
  }
}

}  // namespace

std::vector<LedgerLine> weight_lines(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                                     const Options& o, int stage) {
  const auto range = kvformat::stage_layers(model.num_layers, o.plan, stage);
  std::vector<LedgerLine> lines;
  if (o.stated.weights) {
    lines.push_back({"weights", *o.stated.weights, "given", true, {}});
  } else {
    const spec::WeightBytes weights = spec::weight_bytes(model, o.plan, range.first, range.last);
    add_matrices(lines, model, weights, "weights: ");
    const double padding = mxfp4_padding(
        model, o, weights.by_kind[static_cast<std::size_t>(spec::WeightKind::experts)]);
    if (padding > 0)
      lines.push_back({"weights: expert padding", whole(padding),
                       "MXFP4 kernels pad the hidden size to 256, the intermediate to 128", true,
                       whole(padding * 0.5)});
    if (const double scales = marlin_scales(model, gpu, weights); scales > 0)
      lines.push_back({"weights: Marlin scales",
                       whole(scales),
                       "a 16-bit scale per 128 weights of a column, on a part without FP8 units",
                       true,
                       {}});
    if (const double copies = absorbed_projections(model, o, range); copies > 0)
      lines.push_back({"weights: absorbed MLA",
                       whole(copies),
                       "16-bit copies of the latent's up-projections",
                       true,
                       {}});
    if (const double tables = rotary_tables(model, o); tables > 0)
      lines.push_back({"rotary tables",
                       whole(tables),
                       fmt::format("{} positions", format_integer(model.max_position_embeddings)),
                       true,
                       {}});
    add_drafter(lines, model, o, range.last == model.num_layers);
  }
  if (o.cpu_offload.value() > 0) {
    Bytes held;
    for (const LedgerLine& l : lines) held += l.bytes;
    lines.push_back({"weights on the host",
                     Bytes(0) - std::min(held, o.cpu_offload),
                     "given: cpu_offload",
                     true,
                     {}});
  }
  return lines;
}

}  // namespace kvsim::memory
