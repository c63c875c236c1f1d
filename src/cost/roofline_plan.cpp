#include <algorithm>
#include <map>
#include <utility>

#include "cost/roofline.h"
#include "cost/roofline_constants.h"
#include "diag/check.h"
#include "diag/diagnostic.h"
#include "kvformat/footprint.h"

// From model, GPU and deployment to the numbers that a step is evaluated with.
namespace kvsim::cost::roofline {
namespace {

using spec::AttentionKind;
using spec::LayerGroup;
using spec::Matrix;
using spec::MlpKind;

constexpr double activation_bytes = 2;  // activations are 16 bits wide

double wide(std::int64_t n) { return static_cast<double>(n); }

struct Builder {
  const spec::ModelSpec& model;
  const spec::GpuSpec& gpu;
  const RooflineOptions& options;
  Plan plan;

  double seconds_per_flop(spec::WeightKind kind) const {
    return 1 / (gpu.matrix_rate(spec::compute_dtype(model, kind, gpu)).value() * gemm_share);
  }

  Linear linear(const Matrix& m, std::int64_t layers, std::string_view prefix = {}) const {
    Linear l;
    l.name = std::string(prefix) + std::string(m.name);
    l.layers = layers;
    l.weight_bytes = m.bytes();
    l.token_bytes = activation_bytes * wide(m.in + m.out);
    l.token_flops = 2 * wide(m.in * m.out);
    l.seconds_per_flop = seconds_per_flop(m.kind);
    return l;
  }

  void elementwise(std::int64_t layers, std::int64_t calls, double bytes_per_call) {
    plan.elementwise.calls += layers * calls;
    plan.elementwise.token_bytes += wide(layers * calls) * bytes_per_call;
  }

  void attention(std::size_t index, const LayerGroup& g, std::int64_t layers) {
    const int tp = options.plan.tensor_parallel_size;
    if (g.recurrent) {
      const double state = wide(kvformat::recurrent_state_bytes(*g.recurrent, tp).value());
      const double elements = wide(g.recurrent->state_elements);
      // Decay, S k, rank-one update and S q: eight operations per state element.
      plan.recurrent.push_back(
          {"state_update[" + g.name + "]", layers, 2 * state, 8 * elements / tp});
      return;
    }
    const double heads = wide(g.num_heads / tp);
    const kvformat::TokenBytes token = kvformat::token_bytes(g, options.kv_dtype, tp);
    Attention a;
    a.name = "attention[" + g.name + "]";
    a.group = static_cast<int>(index);
    a.layers = layers;
    a.kv_bytes = token.entry;
    a.write_bytes = g.owns_kv ? token.entry : 0;
    if (g.compression) {
      a.decode_flops = a.prefill_flops = 4 * heads * wide(g.compression->entry_dim);
      a.index_bytes = token.index / wide(g.compression->ratio);
      if (g.indexer)
        a.index_flops =
            2 * wide(g.indexer->heads * g.indexer->head_dim) / wide(g.compression->ratio);
      a.index_layers = g.indexer ? layers : 0;
    } else if (g.attention == AttentionKind::mla) {
      const double absorbed = 2 * heads * wide(2 * g.kv_lora_rank + g.qk_rope_head_dim);
      const double materialised =
          2 * heads * wide(g.qk_nope_head_dim + g.qk_rope_head_dim + g.value_dim());
      a.decode_flops = absorbed;
      a.prefill_flops = g.indexer ? absorbed : materialised;
    } else {
      a.decode_flops = a.prefill_flops = 2 * heads * wide(g.head_dim + g.value_dim());
    }
    if (g.indexer && g.indexer->head_dim > 0 && !g.compression) {
      const std::int64_t all = model.layers_in(index);
      a.index_layers = g.indexer->layers > 0 ? std::min(g.indexer->layers, all) : all;
      a.index_bytes = token.index;
      a.index_flops = 2 * wide(g.indexer->heads * g.indexer->head_dim);
    }
    plan.attention.push_back(std::move(a));
  }

  void mlp(const LayerGroup& group, MlpKind kind, std::int64_t layers) {
    const double tp = options.plan.tensor_parallel_size;
    for (const Matrix& m : spec::mlp_matrices(model, group, kind, options.plan)) {
      if (m.kind == spec::WeightKind::experts) continue;
      const std::string_view prefix = m.kind == spec::WeightKind::shared_experts ? "shared_" : "";
      plan.linears.push_back(linear(m, layers, prefix));
    }
    const std::int64_t width =
        group.intermediate_size > 0 ? group.intermediate_size : model.intermediate_size;
    if (kind == MlpKind::dense) elementwise(layers, 1, 3 * activation_bytes * wide(width) / tp);
    if (kind == MlpKind::moe) experts(group, layers);
  }

  void experts(const LayerGroup& group, std::int64_t layers) {
    const spec::MoE& moe = *model.moe;
    Experts e;
    e.layers = layers;
    e.share = wide(moe.num_experts_per_tok) / wide(moe.num_experts);
    e.ranks_tokens = options.plan.data_parallel_size;
    for (const Matrix& m : spec::mlp_matrices(model, group, MlpKind::moe, options.plan)) {
      if (m.kind != spec::WeightKind::experts) continue;
      e.local_experts = wide(m.copies);
      e.expert_bytes += m.bytes() / wide(m.copies);
      e.row_flops += 2 * wide(m.in * m.out);
      e.row_bytes += activation_bytes * wide(m.in + m.out);
      e.seconds_per_flop = seconds_per_flop(m.kind);
    }
    e.token_rows = wide(moe.num_experts_per_tok) * e.local_experts / wide(moe.num_experts);
    plan.experts.push_back(e);
  }

  void layer_kind(std::size_t index, MlpKind mlp_kind, std::int64_t layers) {
    const LayerGroup& g = model.layer_groups[index];
    for (const Matrix& m : spec::attention_matrices(model, g, options.plan)) {
      if (m.name == "conv") continue;  // one of the element-wise kernels
      std::int64_t n = layers;
      if (m.kind == spec::WeightKind::indexer && g.indexer->layers > 0)
        n = ceil_div(g.indexer->layers * layers, model.layers_in(index));
      plan.linears.push_back(linear(m, n));
      plan.linears.back().up_projection = m.name == "kv_b_gemm" && !g.indexer;
    }
    const double norm = 4 * activation_bytes * wide(model.hidden_size);
    if (g.attention != AttentionKind::none || g.recurrent) {
      elementwise(layers, 1, norm);
      // Rope and cache write, or the convolution: one kernel over the projected width.
      elementwise(
          layers, 1,
          2 * activation_bytes * wide(model.hidden_size) / options.plan.tensor_parallel_size);
      plan.attention_reduce.calls += layers;
    }
    if (mlp_kind == MlpKind::none) return;
    elementwise(layers, 1, norm);
    mlp(g, mlp_kind, layers);
    (mlp_kind == MlpKind::moe ? plan.expert_reduce : plan.attention_reduce).calls += layers;
  }

  void links() {
    const spec::ParallelPlan& p = options.plan;
    plan.tp = p.tensor_parallel_size;
    plan.stages = p.pipeline_parallel_size;
    plan.attention_reduce.ranks = plan.tp;
    plan.expert_reduce.ranks = wide(spec::expert_ranks(p));
    plan.expert_reduce.tokens = p.data_parallel_size;
    if (p.gpus() == 1) return;
    const bool switched = gpu.link_bandwidth.value() > 0;
    Bandwidth rate = switched ? gpu.link_bandwidth : gpu.pcie_bandwidth;
    double latency = link_latency_s;
    if (options.link) {
      rate = options.link->bandwidth * options.link->efficiency;
      if (options.link->latency.value() > 0) latency = to_seconds(options.link->latency);
    }
    if (rate.value() <= 0)
      throw InputError({.code = "gpu-without-link",
                        .message = "GPU " + gpu.id +
                                   " states neither a GPU link nor a PCIe bandwidth, so " +
                                   std::to_string(p.gpus()) + " of them cannot be connected",
                        .hint = "give \"link_bandwidth\" or \"pcie_bandwidth\" in the GPU's file"});
    plan.seconds_per_link_byte = 1 / rate.value();
    // A switch takes two hops whatever the count; a ring over PCIe passes 2 (n - 1) neighbours.
    const double hops = switched ? 2 : 2 * (std::max(plan.tp, plan.expert_reduce.ranks) - 1);
    plan.reduce_floor = kernel_floor_s + hops * latency;
    plan.send_floor = kernel_floor_s + latency;
  }

  void build() {
    plan.seconds_per_byte = 1 / (gpu.memory_bandwidth.value() * bandwidth_share);
    plan.attention_seconds_per_flop = 1 / (gpu.matrix_rate(model.dtype).value() * attention_share);
    plan.hidden_bytes = activation_bytes * wide(model.hidden_size);
    std::map<std::pair<std::size_t, MlpKind>, std::int64_t> kinds;
    for (std::int64_t l = 0; l < model.num_layers; ++l)
      ++kinds[{static_cast<std::size_t>(model.layer_group[static_cast<std::size_t>(l)]),
               spec::mlp_of(model, l)}];
    for (const auto& [kind, layers] : kinds) layer_kind(kind.first, kind.second, layers);
    for (std::size_t i = 0; i < model.layer_groups.size(); ++i)
      if (const std::int64_t n = model.layers_in(i);
          n > 0 && model.layer_groups[i].attention != AttentionKind::none)
        attention(i, model.layer_groups[i], n);
    elementwise(1, 2, 2 * plan.hidden_bytes);  // embedding lookup and final norm
    const Matrix head = spec::head_matrix(model, options.plan);
    plan.head = linear(head, 1);
    plan.vocab = wide(head.out);
    links();
  }
};

}  // namespace

Plan plan_roofline(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                   const RooflineOptions& options) {
  Builder builder{model, gpu, options, {}};
  builder.build();
  return std::move(builder.plan);
}

}  // namespace kvsim::cost::roofline
