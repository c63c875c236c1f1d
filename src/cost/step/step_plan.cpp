#include "cost/step/step_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cost/roofline_constants.h"
#include "cost/step/rules.h"
#include "kvformat/footprint.h"
#include "spec/weights.h"

namespace kvsim::cost::step {
namespace {

using spec::AttentionKind;
using spec::LayerGroup;
using spec::Matrix;
using spec::MlpKind;
using spec::WeightKind;

constexpr double activation_bytes = 2;  // activations between kernels are 16 bits wide

double wide(std::int64_t n) { return static_cast<double>(n); }

struct Builder {
  const spec::ModelSpec& model;
  const spec::GpuSpec& gpu;
  const FittedOptions& options;
  const CostLibrary& library;
  Rules rules;
  Plan plan;
  std::map<std::string, std::optional<std::size_t>> chosen;
  bool complete = true;

  const spec::ParallelPlan& split() const { return options.deployment.plan; }

  std::optional<std::size_t> fit(std::string_view kernel, std::string_view dtype,
                                 std::string_view kv_dtype = {}, std::string_view regime = {},
                                 std::string_view backend = {},
                                 const std::vector<std::string_view>* frameworks = nullptr) {
    std::string key;
    for (const std::string_view part : {kernel, dtype, kv_dtype, regime, backend})
      key += part, key += '|';
    const auto [at, fresh] = chosen.try_emplace(key);
    if (!fresh) return at->second;
    auto found = library.choose(
        gpu, {kernel, dtype, kv_dtype, regime, backend, frameworks ? *frameworks : rules.kernels});
    if (!found) return at->second;
    at->second = plan.fits.size();
    plan.fits.push_back(std::move(*found));
    return at->second;
  }
  std::size_t must_fit(std::string_view kernel, std::string_view dtype,
                       std::string_view kv_dtype = {}, std::string_view regime = {}) {
    const auto found = fit(kernel, dtype, kv_dtype, regime);
    complete &= found.has_value();
    return found.value_or(0);
  }

  // As measurement files name the operand format of a weight.
  std::string_view dtype_of(WeightKind kind) const {
    const spec::Quantization& q = model.quantization;
    if (spec::stored_bits(model, kind) >= spec::bits(model.dtype)) return "bf16";
    const spec::DType compute = spec::compute_dtype(model, kind, gpu);
    if (compute == spec::DType::int8) return "int8";
    if (q.method == "mxfp4" && kind == WeightKind::experts)
      return compute == spec::DType::fp8 && options.framework != Framework::vllm
                 ? "w4a8_mxfp4_mxfp8"
                 : "w4a16_mxfp4";
    if (compute == spec::DType::fp8)
      return q.group_size >= 128 * 128 || q.method == "fp8_block" ? "fp8_block" : "fp8";
    if (compute == spec::DType::fp4) return "nvfp4";
    return "int4_wo";
  }
  Format format_of(WeightKind kind) const {
    Format f = *find_format(dtype_of(kind));
    f.weight_bytes = spec::stored_bits(model, kind) / 8;
    return f;
  }

  Plain plain(double floor_us, double token_bytes) const {
    Plain p;
    p.floor_us = floor_share * floor_us, p.token_bytes = token_bytes;
    p.bandwidth = elementwise_share * plan.device.bandwidth, p.rate = plan.device.bf16;
    return p;
  }
  void elementwise(std::string name, std::int64_t layers, double floor_us, double token_bytes) {
    TokenOperator op;
    op.name = std::move(name), op.layers = layers;
    op.plain = plain(floor_us, token_bytes);
    // The floor is what a small call takes in all.
    op.plain.fixed_bytes = (floor_us - op.plain.floor_us) * op.plain.bandwidth * 1e3;
    plan.tokens.push_back(std::move(op));
  }

  TokenOperator product(const Matrix& m, std::int64_t layers, std::string_view prefix = {}) {
    TokenOperator op;
    op.name = std::string(prefix) + std::string(m.name), op.layers = layers;
    op.fit = must_fit("gemm", dtype_of(m.kind) == "int4_wo" ? "bf16" : dtype_of(m.kind));
    const Format format = format_of(m.kind);
    op.shape = Gemm{1, wide(m.out * m.copies), wide(m.in), format};
    if (format.quantises_activations) op.calls = 2;
    return op;
  }

  void reduce(std::int64_t layers, std::string name, double ranks, double ranks_tokens) {
    if (ranks <= 1 || layers == 0) return;
    TokenOperator op;
    op.name = std::move(name), op.layers = layers, op.link = Binds::link;
    op.ranks_tokens = ranks_tokens;
    const double bytes = activation_bytes * wide(model.hidden_size);
    // Of this part's implementations the first in order; only then another part's.
    for (const std::string_view backend : rules.reduce_backends) {
      const auto found = fit("comm", "", "", "all_reduce", backend, &rules.reduce_kernels);
      if (!op.fit) op.fit = found;
      if (found && plan.fits[*found].kinship <= Kinship::framework) {
        op.fit = found;
        break;
      }
    }
    Collective c;
    c.num_gpus = ranks, c.bytes = bytes;
    op.shape = c;
    if (ranks_tokens > 1) op.extra_us = exchange_extra_us;
    // Links are what a collective measures: those of another GPU stand in only where they are
    // equal.
    if (op.fit && plan.fits[*op.fit].gpu->link_bandwidth != gpu.link_bandwidth) op.fit.reset();
    if (!op.fit) {
      Bandwidth rate = gpu.link_bandwidth.value() > 0 ? gpu.link_bandwidth : gpu.pcie_bandwidth;
      double latency = roofline::link_latency_s;
      if (options.deployment.link) {
        rate = options.deployment.link->bandwidth * options.deployment.link->efficiency;
        if (options.deployment.link->latency.value() > 0)
          latency = to_seconds(options.deployment.link->latency);
      }
      const double hops = plan.device.switched ? 2 : 2 * (ranks - 1);
      op.plain.floor_us = 1e6 * (roofline::kernel_floor_s + hops * latency);
      op.plain.token_bytes = 2 * (ranks - 1) / ranks * bytes;
      op.plain.bandwidth = std::max(1e-3, rate.value() / 1e9);
    }
    plan.tokens.push_back(std::move(op));
  }

  void experts(const LayerGroup& group, std::int64_t layers) {
    const spec::MoE& moe = *model.moe;
    const spec::ParallelPlan& p = split();
    const double ranks = wide(spec::expert_ranks(p));
    TokenOperator op;
    op.name = "experts", op.layers = layers, op.calls = 4;
    ExpertMlp e;
    e.tokens = 1,
    e.hidden = wide(moe.expert_input_size > 0 ? moe.expert_input_size : model.hidden_size);
    e.inter = wide(moe.moe_intermediate_size), e.topk = wide(moe.num_experts_per_tok);
    e.n_experts = wide(moe.num_experts);
    e.moe_tp = p.enable_expert_parallel ? 1 : ranks;
    e.moe_ep = p.enable_expert_parallel ? ranks : 1;
    e.skew = p.data_parallel_size > 1 ? 0 : router_skew;
    e.gated = model.gated_mlp, e.format = format_of(WeightKind::experts);
    op.shape = e, op.ranks_tokens = p.data_parallel_size;
    const std::string_view dtype = dtype_of(WeightKind::experts);
    const std::string_view backend = !e.gated ? "nongated" : dtype == "nvfp4" ? "cutlass" : "";
    op.fit = fit("moe", dtype, "", "", backend);
    if (!op.fit && !backend.empty()) op.fit = fit("moe", dtype);
    if (!op.fit) op.fit = fit("moe", "");
    complete &= op.fit.has_value();
    if (dtype == "nvfp4" && e.gated)
      op.rival = fit("moe", dtype, "", "", "min_latency"), op.rival_tokens = low_latency_tokens;
    // In decode engines run TensorRT-LLM's generated kernels for block-scaled experts on Blackwell,
    // which no table has; an assumption in a file of its own stands for them.
    if (dtype == "fp8_block" && e.gated && gpu.architecture.starts_with("blackwell"))
      op.rival = fit("moe", dtype, "", "", "trtllm_gen"), op.rival_tokens = generated_tokens;
    plan.tokens.push_back(std::move(op));
    for (const Matrix& m : spec::mlp_matrices(model, group, MlpKind::moe, p)) {
      if (m.kind == WeightKind::experts) continue;
      const bool shared = m.kind == WeightKind::shared_experts;
      plan.tokens.push_back(product(m, layers, shared ? "shared_" : ""));
      plan.tokens.back().overlapped = shared;
    }
  }

  void mlp(const LayerGroup& group, MlpKind kind, std::int64_t layers) {
    const spec::ParallelPlan& p = split();
    if (kind == MlpKind::moe) return experts(group, layers);
    for (const Matrix& m : spec::mlp_matrices(model, group, kind, p))
      plan.tokens.push_back(product(m, layers));
    const std::int64_t width =
        group.intermediate_size > 0 ? group.intermediate_size : model.intermediate_size;
    elementwise("activation", layers, activation_floor_us,
                3 * activation_bytes * wide(width) / p.tensor_parallel_size);
  }

  void layer_kind(std::size_t index, MlpKind kind, std::int64_t layers) {
    const LayerGroup& g = model.layer_groups[index];
    const spec::ParallelPlan& p = split();
    const double norm = 4 * activation_bytes * wide(model.hidden_size);
    const bool mixes = g.attention != AttentionKind::none || g.recurrent;
    for (const Matrix& m : spec::attention_matrices(model, g, p)) {
      if (m.name == "conv" || (m.name == "kv_b_gemm" && !g.indexer)) continue;
      std::int64_t n = layers;
      if (m.kind == WeightKind::indexer && g.indexer->layers > 0)
        n = ceil_div(g.indexer->layers * layers, model.layers_in(index));
      plan.tokens.push_back(product(m, n));
    }
    const bool fused = rules.fused_reduce_norm && p.tensor_parallel_size > 1;
    if (mixes) {
      if (!fused) elementwise("norm", layers, norm_floor_us, norm);
      elementwise("rope_and_cache", layers, rope_floor_us,
                  2 * activation_bytes * wide(model.hidden_size) / p.tensor_parallel_size);
      if (g.attention == AttentionKind::mla)  // norms of the two latents
        elementwise("latent_norm", layers, norm_floor_us, 4 * wide(g.q_lora_rank + g.kv_lora_rank));
      reduce(layers, "all_reduce", p.tensor_parallel_size, 1);
    }
    if (kind == MlpKind::none) return;
    if (!fused) elementwise("norm", layers, norm_floor_us, norm);
    mlp(g, kind, layers);
    if (kind == MlpKind::moe)
      reduce(layers, "expert_exchange", wide(spec::expert_ranks(p)), p.data_parallel_size);
    else
      reduce(layers, "all_reduce", p.tensor_parallel_size, 1);
  }

  Format kv_format() const {
    Format f;
    f.weight_bytes = options.deployment.kv_dtype.bits_per_element() / 8;
    f.operands = f.weight_bytes < 1.5 ? spec::DType::fp8 : spec::DType::bfloat16;
    return f;
  }

  void attention(std::size_t index, const LayerGroup& g, std::int64_t layers) {
    const int tp = split().tensor_parallel_size;
    if (g.recurrent) {
      const double state = wide(kvformat::recurrent_state_bytes(*g.recurrent, tp).value());
      // Decay, S k, rank-one update and S q: eight operations per state element.
      plan.recurrent.push_back({"state_update[" + g.name + "]", layers, 2 * state,
                                8 * wide(g.recurrent->state_elements) / tp});
      return;
    }
    const kvformat::TokenBytes token = kvformat::token_bytes(g, options.deployment.kv_dtype, tp);
    const Format kv = kv_format();
    const bool narrow = kv.weight_bytes < 1.5;
    const std::string_view kv_dtype = narrow ? "fp8" : "bf16";
    const std::string_view compute = narrow && rules.fp8_prefill ? "fp8" : "bf16";
    const double heads = wide(g.num_heads / tp);
    AttentionOperator a;
    a.name = "attention[" + g.name + "]", a.group = index, a.layers = layers;
    if (g.attention == AttentionKind::mla) {
      a.mla = true;
      Mla core;
      core.n_heads = heads, core.latent = wide(g.kv_lora_rank),
      core.rope = wide(g.qk_rope_head_dim);
      core.nope = wide(g.qk_nope_head_dim), core.value = wide(g.value_dim());
      core.kv = kv, core.compute = Format{};
      core.kv.weight_bytes = token.entry / (core.latent + core.rope);
      a.decode = core;
      core.decode = false;
      a.prefill = core;
      a.decode_fit = must_fit("mla", "bf16", kv_dtype, "decode");
      a.prefill_fit = must_fit("mla", "bf16", kv_dtype, "prefill");
      MlaBmm bmm;
      bmm.n_heads = heads, bmm.latent = core.latent, bmm.head = core.nope;
      a.pre = bmm, a.pre_fit = fit("mla_bmm", "bf16", "", "mla_gen_pre");
      bmm.pre = false, bmm.head = core.value;
      a.post = bmm, a.post_fit = fit("mla_bmm", "bf16", "", "mla_gen_post");
      for (const Matrix& m : spec::attention_matrices(model, g, split()))
        if (m.name == "kv_b_gemm" && !g.indexer) {
          a.up = Gemm{1, wide(m.out), wide(m.in), Format{}};
          a.up_fit = fit("gemm", "bf16");
        }
    } else {
      DecodeAttention d;
      d.n_heads = heads, d.head_dim = wide(g.head_dim), d.compute = Format{};
      d.n_kv_heads = wide(kvformat::kv_heads_per_rank(g.num_kv_heads, tp));
      d.kv = kv;
      d.kv.weight_bytes = token.entry / (2 * d.n_kv_heads * d.head_dim);
      PrefillAttention f;
      f.n_heads = heads, f.n_kv_heads = d.n_kv_heads, f.head_dim = d.head_dim;
      f.kv = d.kv, f.compute = *find_format(compute);
      a.decode = d, a.prefill = f;
      a.decode_fit = must_fit("decode_attn", "bf16", kv_dtype);
      a.prefill_fit = must_fit("prefill_attn", compute, kv_dtype);
    }
    if (g.indexer && g.indexer->head_dim > 0) {
      const std::int64_t all = model.layers_in(index);
      const double ratio = g.compression ? wide(g.compression->ratio) : 1;
      a.index_layers = g.indexer->layers > 0 ? std::min(g.indexer->layers, all) : all;
      a.index = plain(norm_floor_us, token.index / ratio);
      a.index_pair_flops = 2 * wide(g.indexer->heads * g.indexer->head_dim) / ratio;
    }
    plan.attention.push_back(std::move(a));
  }

  void head() {
    plan.head = product(spec::head_matrix(model, split()), 1);
    const double vocab = wide(model.vocab_size);
    plan.sampling = plain(sampling_us, 3 * 4 * vocab);
    plan.sampling.floor_us = sampling_us;
    if (split().tensor_parallel_size > 1) {
      TokenOperator op;
      op.name = "logits_gather", op.layers = 1, op.link = Binds::link;
      const double tp = split().tensor_parallel_size;
      op.plain.floor_us = logits_gather_us;
      op.plain.token_bytes = activation_bytes * vocab * (tp - 1) / tp;
      op.plain.bandwidth = std::max(1e-3, plan.device.link);
      plan.gather = std::move(op);
    }
  }

  // What a launch costs outside a graph: the eager rows of a small all-reduce against those from a
  // graph, on this GPU's host.
  double launch_us() {
    const auto eager = fit("comm", "", "", "all_reduce", "_eager", &rules.launch_kernels);
    const auto graph = fit("comm", "", "", "all_reduce", "_graph", &rules.launch_kernels);
    if (!eager || !graph || plan.fits[*eager].kinship > Kinship::framework)
      return default_launch_us;
    Collective small;
    small.bytes = small_message;
    return std::max(0.0, plan.fits[*eager].model.microseconds(small, Buffers::cold) -
                             plan.fits[*graph].model.microseconds(small, Buffers::cold));
  }

  void build() {
    plan.device = device_of(gpu);
    rules = rules_of(options.framework, gpu);
    plan.launch_us = launch_us();
    std::map<std::pair<std::size_t, MlpKind>, std::int64_t> kinds;
    for (std::int64_t l = 0; l < model.num_layers; ++l)
      ++kinds[{static_cast<std::size_t>(model.layer_group[static_cast<std::size_t>(l)]),
               spec::mlp_of(model, l)}];
    for (const auto& [kind, layers] : kinds) layer_kind(kind.first, kind.second, layers);
    for (std::size_t i = 0; i < model.layer_groups.size(); ++i)
      if (const std::int64_t n = model.layers_in(i);
          n > 0 && model.layer_groups[i].attention != AttentionKind::none)
        attention(i, model.layer_groups[i], n);
    elementwise("embedding_and_norm", 2, norm_floor_us,
                2 * activation_bytes * wide(model.hidden_size));
    head();
    plan.stages = split().pipeline_parallel_size;
    plan.send.floor_us = 1e6 * (roofline::kernel_floor_s + roofline::link_latency_s);
    plan.send.token_bytes = 2 * activation_bytes * wide(model.hidden_size);
    plan.send.bandwidth = std::max(1e-3, plan.device.link);
  }
};

}  // namespace

double Plain::us(double tokens) const {
  return floor_us + std::max((fixed_bytes + tokens * token_bytes) / (bandwidth * 1e3),
                             tokens * token_flops / (rate * 1e6));
}

std::optional<Plan> plan_step(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                              const FittedOptions& options, const CostLibrary& library) {
  Builder builder{model, gpu, options, library, {}, {}, {}};
  builder.build();
  if (!builder.complete) return std::nullopt;
  return std::move(builder.plan);
}

}  // namespace kvsim::cost::step
