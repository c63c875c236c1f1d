#include "memory/estimates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cost/cost_model.h"
#include "kvformat/footprint.h"
#include "spec/weights.h"
#include "units/format.h"

namespace kvsim::memory {
namespace {

// Links of server boards; consumer bridges (56 GB/s) behave like PCIe here.
constexpr double switched_link = 200e9;

double wide(std::int64_t n) { return static_cast<double>(n); }
Bytes whole(double bytes) { return Bytes(static_cast<std::int64_t>(bytes)); }
Bytes in_gib(double x) { return whole(x * static_cast<double>(gib)); }
Bytes part(Bytes b, double share) { return whole(wide(b.value()) * share); }

// Elements of the widest layer's intermediates per token, three copies of the residual stream
// included. Gate and up outputs beside their product: Llama-3.1-8B has 6 I + 6 h = 110,592 bytes a
// token; two starts at 20,000 and 29,000 tokens differ by 109,763 a token.
double widest_layer(const spec::ModelSpec& model, const Options& o) {
  const double tp = o.plan.tensor_parallel_size, hidden = wide(model.hidden_size);
  double widest = 0;
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
  return widest + 3 * hidden;
}

// AWQ and GPTQ kernels for many tokens write the whole matrix out in 16 bits first.
double unpacked_matrix(const spec::ModelSpec& model, const Options& o) {
  const std::string& method = model.quantization.method;
  if (!o.rules.dequantises_weights || (method != "awq" && method != "gptq")) return 0;
  double most = 0;
  for (const spec::LayerGroup& g : model.layer_groups)
    for (const spec::MlpKind kind : {spec::MlpKind::dense, spec::MlpKind::moe}) {
      if (kind == spec::MlpKind::moe && !model.moe) continue;
      for (const spec::Matrix& m : spec::mlp_matrices(model, g, kind, o.plan))
        most = std::max(most, wide(m.out) * wide(m.in) * 2);
    }
  return most;
}

struct Encoder {
  double peak = 0, kept = 0;
};
Encoder encode_images(const spec::ModelSpec& model, const Options& o) {
  const std::int64_t images = o.images_per_prompt.value_or(1);
  if (!model.vision || images == 0) return {};
  const spec::VisionEncoder& v = *model.vision;
  // As many images as the larger of one image and the token budget holds; one prompt's limit caps.
  const std::int64_t budget = std::max(o.max_num_batched_tokens, v.tokens_per_image);
  const double count = wide(
      std::min(std::max<std::int64_t>(budget / std::max<std::int64_t>(v.tokens_per_image, 1), 1),
               images * o.max_num_seqs));
  const double element = 2;
  const double pixels = 2 * 3 * 256.0;  // of one patch, two frames of 16 x 16
  return {
      count * wide(v.patches_per_image) *
          (element * (2 * wide(v.intermediate_size) + 3 * wide(v.hidden_size)) + element * pixels),
      count * wide(v.tokens_per_image) * wide(model.hidden_size) * element};
}

}  // namespace

Estimate ProfileRun::peak() const {
  const Bytes steady = std::max(layers + unpacked, sampler) + kept;
  Estimate e;
  e.bytes = std::max(steady, encoder);
  if (encoder >= steady) {
    e.uncertainty = part(e.bytes, 0.5);
    e.note = fmt::format("estimate: images of the largest size through the vision tower");
  } else if (sampler > layers + unpacked) {
    e.uncertainty = part(e.bytes, 0.15);
    e.note = fmt::format("estimate: sampling for {} sequences, {:g} bytes a logit", sequences,
                         logit_bytes);
  } else {
    e.uncertainty = part(e.bytes, 0.10);
    e.note = fmt::format("estimate: the widest layer at {} tokens", tokens);
    if (unpacked.value() > 0)
      e.note += fmt::format(", a matrix unpacked to 16 bits ({})", format_bytes(unpacked));
  }
  if (kept.value() > 0 && encoder < steady)
    e.note += fmt::format(", encoder outputs of {}", format_bytes(kept));
  return e;
}

ProfileRun profile_run(const spec::ModelSpec& model, const Options& o, int stage) {
  ProfileRun run;
  run.tokens = o.max_num_batched_tokens;
  run.sequences = std::min(o.max_num_seqs, o.max_num_batched_tokens);
  run.logit_bytes = o.rules.logit_bytes;
  run.layers = whole(wide(run.tokens) * widest_layer(model, o) * spec::bits(model.dtype) / 8.0);
  run.unpacked = whole(unpacked_matrix(model, o));
  if (stage == o.plan.pipeline_parallel_size - 1)
    run.sampler = whole(wide(run.sequences) * wide(model.vocab_size) * run.logit_bytes);
  const Encoder images = stage == 0 ? encode_images(model, o) : Encoder{};
  run.encoder = whole(images.peak);
  run.kept = whole(images.kept);
  return run;
}

Estimate non_torch_estimate(const spec::GpuSpec& gpu, const Options& o) {
  const bool several = o.plan.gpus() > 1;
  const bool server = gpu.link_bandwidth.value() >= switched_link;
  if (o.rules.engine == Engine::vllm_v1 && !o.rules.counts_non_torch)
    return {Bytes(0), Bytes(0), "not counted before 0.2.6"};
  // One GPU: 0.01 to 0.35 GiB in public reports. Several: 0.25 GiB on desktop boards (two
  // 4090), 1.8 to 3.6 GiB on the NVLink parts of late 2024, less since.
  double size = 0.1, spread = 0.15;
  std::string what = "libraries";
  if (several) {
    size = server ? 1.5 : 0.25, spread = server ? 1.0 : 0.2;
    what = "libraries and communication buffers";
  }
  switch (o.rules.engine) {
    case Engine::vllm_v1:
      if (o.rules.counts_context) {
        // 0.35 GiB on one 3090, 3.58 on each of two 80 GB parts in late 2024.
        size += several && server ? 2.0 : 0.25;
        what += " and the CUDA context";
      }
      if (o.rules.by_free_memory) {
        // Four starts of early 2024 leave 0.4 to 0.9 GiB.
        size += 0.5, spread = 0.3;
        what += ", memory reserved beyond the peak";
      }
      break;
    case Engine::sglang:
      // The pool is taken from what is free, so the CUDA context counts: 0.65 GiB on two desktop
      // GPUs, 2.2 on four H100.
      size += 0.5;
      what += " and the CUDA context";
      break;
    case Engine::trtllm:
      // One A10 start leaves 4.0 GiB beside weights and KV, runs on H100 and B200 fit 6 GB in all.
      size += 3.2, spread = 1.0;
      what += ", runtime and workspaces";
      break;
    case Engine::static_batching:
    case Engine::llamacpp:
      break;
  }
  return {in_gib(size), in_gib(spread), "estimate: " + what};
}

Estimate graph_estimate(const spec::ModelSpec& model, const spec::GpuSpec& gpu, const Options& o,
                        int stage) {
  if (o.enforce_eager) return {Bytes(0), Bytes(0), "eager: none"};
  const std::int64_t limit =
      cost::cuda_graph_limit(o.max_num_batched_tokens, o.max_num_seqs, o.speculative_tokens, gpu);
  const std::int64_t count = cost::cuda_graph_count(limit);
  const auto range = kvformat::stage_layers(model.num_layers, o.plan, stage);
  const double layers = wide(range.last - range.first);
  // Captured graphs took 0.20, 0.29 and 0.38 MiB a size and layer in three starts; the estimate
  // that 0.21 subtracts gives 0.05 and 0.15 where a log prints it (default sizes), 0.04 where it
  // follows from the pool.
  const Bytes bytes = whole(wide(count) * layers * o.rules.graph_mib * mib);
  return {bytes, part(bytes, 0.5),
          fmt::format("estimate: {} captured sizes of {:g} layers", count, layers)};
}

}  // namespace kvsim::memory
