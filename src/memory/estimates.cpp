#include "memory/estimates.h"

#include <algorithm>

#include "cost/cost_model.h"
#include "spec/weights.h"

namespace kvsim::memory {
namespace {

// Bytes per logit while sampling: 16-bit logits, their float32 copy, sorted values and indices.
// A 1.5 B model with 1,024 sequences left 2.2 GiB of a 0.19 start unexplained by anything else.
constexpr double logit_bytes = 15;

// Per captured size and layer; three public starts give 0.20, 0.29 and 0.38 MiB.
constexpr double graph_bytes = 0.29 * mib;

// Links of server boards; consumer bridges (56 GB/s) behave like PCIe here.
constexpr double switched_link = 200e9;

double wide(std::int64_t n) { return static_cast<double>(n); }

}  // namespace

Bytes activation_estimate(const spec::ModelSpec& model, const Options& o) {
  const double element = spec::bits(model.dtype) / 8.0;
  const double tp = o.plan.tensor_parallel_size, hidden = wide(model.hidden_size);
  double widest = 0;
  // Gate and up outputs beside their product (Llama-3.1-8B: 6 I + 6 h = 110,592 bytes a token; two
  // starts at 20,000 and 29,000 tokens differ by 109,763 a token).
  if (model.intermediate_size > 0)
    widest = (model.gated_mlp ? 3 : 2) * wide(model.intermediate_size) / tp;
  if (model.moe) {
    // Fused experts keep the routed rows' intermediates and their outputs.
    const double ranks = o.plan.enable_expert_parallel ? 1 : wide(spec::expert_ranks(o.plan));
    const double rows = wide(model.moe->num_experts_per_tok);
    widest = std::max(widest, rows * (3 * wide(model.moe->moe_intermediate_size) / ranks + hidden));
  }
  for (const spec::LayerGroup& g : model.layer_groups) {
    const double value = g.attention == spec::AttentionKind::mla
                             ? wide(g.qk_nope_head_dim + g.qk_rope_head_dim)
                             : wide(g.head_dim);
    widest = std::max(widest, 3 * wide(g.num_heads) * value / tp);
  }
  const double per_token = element * (widest + 3 * hidden);
  const double layers = wide(o.max_num_batched_tokens) * per_token;
  const double logits = wide(o.max_num_seqs) * wide(model.vocab_size) * logit_bytes;
  return Bytes(static_cast<std::int64_t>(std::max(layers, logits)));
}

Bytes non_torch_estimate(const spec::GpuSpec& gpu, const Options& o) {
  // One GPU: 0.01 to 0.35 GiB in public reports. Several: 0.25 GiB on desktop boards (two
  // 4090), 1.8 to 3.6 GiB on the NVLink parts of late 2024, less since.
  double size = 0.1;
  if (o.plan.gpus() > 1) size = gpu.link_bandwidth.value() >= switched_link ? 1.5 : 0.25;
  // One A10 start leaves 4.0 GiB beside weights and KV, runs on H100 and B200 fit 6 GB in all.
  if (o.rules.engine == Engine::trtllm) size += 3.5;
  return Bytes(static_cast<std::int64_t>(size * static_cast<double>(gib)));
}

Bytes graph_estimate(const spec::ModelSpec& model, const spec::GpuSpec& gpu, const Options& o) {
  if (o.enforce_eager) return Bytes(0);
  const std::int64_t limit =
      cost::cuda_graph_limit(o.max_num_batched_tokens, o.max_num_seqs, o.speculative_tokens, gpu);
  const double layers = wide(model.num_layers) / o.plan.pipeline_parallel_size;
  return Bytes(
      static_cast<std::int64_t>(wide(cost::cuda_graph_count(limit)) * layers * graph_bytes));
}

}  // namespace kvsim::memory
