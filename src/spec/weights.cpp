#include "spec/weights.h"

#include <algorithm>
#include <numeric>

namespace kvsim::spec {
namespace {

std::int64_t per_rank_kv_heads(const LayerGroup& g, std::int64_t tp) {
  return std::max<std::int64_t>(g.num_kv_heads / tp, 1);
}

// Queries (and their gate), K and V of an owner of KV: layers that read an anchor's KV project
// queries alone.
void softmax_attention(std::vector<Matrix>& list, const LayerGroup& g, std::int64_t hidden,
                       std::int64_t tp) {
  const std::int64_t heads = g.num_heads / tp;
  const std::int64_t queries = heads * g.head_dim;
  const std::int64_t kv_width = g.shared_kv_tensor ? g.head_dim : g.head_dim + g.value_dim();
  const std::int64_t kv = g.owns_kv ? per_rank_kv_heads(g, tp) * kv_width : 0;
  if (g.q_lora_rank > 0) {
    list.push_back({"qkv_a_gemm", WeightKind::attention, g.q_lora_rank + kv, hidden});
    list.push_back({"q_b_gemm", WeightKind::attention, queries, g.q_lora_rank});
  } else {
    list.push_back(
        {"qkv_gemm", WeightKind::attention, queries * (g.output_gate ? 2 : 1) + kv, hidden});
  }
  const std::int64_t out = heads * g.value_dim();
  if (g.o_lora_rank > 0) {
    // Each of o_groups slices of the heads goes through its own low rank.
    const std::int64_t groups = std::max<std::int64_t>(g.o_groups / tp, 1);
    list.push_back({"output_a_gemm", WeightKind::attention, g.o_lora_rank, out / groups, groups});
    list.push_back({"output_gemm", WeightKind::attention, hidden, groups * g.o_lora_rank});
  } else {
    list.push_back({"output_gemm", WeightKind::attention, hidden, out});
  }
}

void mla(std::vector<Matrix>& list, const LayerGroup& g, std::int64_t hidden, std::int64_t tp) {
  const std::int64_t heads = g.num_heads / tp;
  const std::int64_t latent = g.kv_lora_rank + g.qk_rope_head_dim;
  const std::int64_t q = heads * (g.qk_nope_head_dim + g.qk_rope_head_dim);
  if (g.q_lora_rank > 0) {
    list.push_back({"qkv_a_gemm", WeightKind::attention, g.q_lora_rank + latent, hidden});
    list.push_back({"q_b_gemm", WeightKind::attention, q, g.q_lora_rank});
  } else {
    list.push_back({"qkv_a_gemm", WeightKind::attention, q + latent, hidden});
  }
  // Up-projection of the latent: two batched products around absorbed decode.
  list.push_back({"kv_b_gemm", WeightKind::attention, heads * (g.qk_nope_head_dim + g.value_dim()),
                  g.kv_lora_rank});
  list.push_back({"output_gemm", WeightKind::attention, hidden, heads * g.value_dim()});
}

// Input projections, convolution and output projection, as spec/parameters.cpp counts them.
void recurrent(std::vector<Matrix>& list, const RecurrentState& s, std::int64_t hidden,
               std::int64_t tp) {
  const std::int64_t values = s.value_heads * s.value_dim, keys = s.key_heads * s.key_dim;
  std::int64_t in = 0;
  switch (s.kind) {
    case RecurrentKind::gated_delta_net:
      in = s.conv_channels + values + 2 * s.value_heads;
      break;
    case RecurrentKind::kda:
      in = 2 * keys + values + 2 * s.value_dim + s.value_heads;
      break;
    case RecurrentKind::mamba2:
      in = s.conv_channels + values + s.value_heads;
      break;
    case RecurrentKind::mamba1:
      in = 2 * values;
      break;
    case RecurrentKind::lightning:
      in = 2 * keys + 2 * values;
      break;
  }
  list.push_back({"in_gemm", WeightKind::recurrent, in / tp, hidden});
  if (s.kind == RecurrentKind::kda)
    list.push_back({"gate_gemm", WeightKind::recurrent, 2 * values / tp, s.value_dim});
  if (s.kind == RecurrentKind::mamba1) {
    const std::int64_t dt_rank = ceil_div(hidden, 16);
    list.push_back({"x_gemm", WeightKind::recurrent, dt_rank + 2 * s.key_dim, values / tp});
    list.push_back({"dt_gemm", WeightKind::recurrent, values / tp, dt_rank});
  }
  if (s.conv_kernel > 0)
    list.push_back({"conv", WeightKind::recurrent, s.conv_channels / tp, s.conv_kernel});
  list.push_back({"output_gemm", WeightKind::recurrent, hidden, values / tp});
}

void set_bits(std::vector<Matrix>& list, const ModelSpec& model) {
  for (Matrix& m : list) m.bits = stored_bits(model, m.kind);
}

std::vector<Matrix> two_or_three(const ModelSpec& model, WeightKind kind, std::int64_t input,
                                 std::int64_t width, std::int64_t copies) {
  const std::int64_t up = model.gated_mlp ? 2 * width : width;
  return {{"up_gemm", kind, up, input, copies}, {"down_gemm", kind, input, width, copies}};
}

}  // namespace

std::int64_t expert_ranks(const ParallelPlan& plan) {
  return static_cast<std::int64_t>(plan.tensor_parallel_size) * plan.data_parallel_size;
}

MlpKind mlp_of(const ModelSpec& model, std::int64_t layer) {
  const LayerGroup& group = model.group_of(layer);
  if (!group.has_mlp) return MlpKind::none;
  if (model.is_moe_layer(layer)) return MlpKind::moe;
  return model.intermediate_size + group.intermediate_size > 0 ? MlpKind::dense : MlpKind::none;
}

std::vector<Matrix> attention_matrices(const ModelSpec& model, const LayerGroup& g,
                                       const ParallelPlan& plan) {
  std::vector<Matrix> list;
  const std::int64_t tp = plan.tensor_parallel_size;
  if (g.recurrent)
    recurrent(list, *g.recurrent, model.hidden_size, tp);
  else if (g.attention == AttentionKind::mla)
    mla(list, g, model.hidden_size, tp);
  else if (g.attention != AttentionKind::none)
    softmax_attention(list, g, model.hidden_size, tp);
  if (g.indexer && g.indexer->head_dim > 0) {
    const std::int64_t source = g.q_lora_rank > 0 ? g.q_lora_rank : model.hidden_size;
    list.push_back(
        {"index_q_gemm", WeightKind::indexer, g.indexer->heads * g.indexer->head_dim, source});
    list.push_back({"index_k_gemm", WeightKind::indexer, g.indexer->head_dim + g.indexer->heads,
                    model.hidden_size});
  }
  set_bits(list, model);
  return list;
}

std::vector<Matrix> mlp_matrices(const ModelSpec& model, const LayerGroup& group, MlpKind kind,
                                 const ParallelPlan& plan) {
  std::vector<Matrix> list;
  const std::int64_t tp = plan.tensor_parallel_size, hidden = model.hidden_size;
  const std::int64_t dense =
      group.intermediate_size > 0 ? group.intermediate_size : model.intermediate_size;
  if (kind == MlpKind::dense)
    list = two_or_three(model, WeightKind::dense_mlp, hidden, ceil_div(dense, tp), 1);
  if (kind == MlpKind::moe) {
    const MoE& moe = *model.moe;
    const std::int64_t ranks = expert_ranks(plan);
    const bool by_expert = plan.enable_expert_parallel;
    const std::int64_t width =
        by_expert ? moe.moe_intermediate_size : ceil_div(moe.moe_intermediate_size, ranks);
    const std::int64_t local = by_expert ? ceil_div(moe.num_experts, ranks) : moe.num_experts;
    const std::int64_t input = moe.expert_input_size > 0 ? moe.expert_input_size : hidden;
    list.push_back({"router_gemm", WeightKind::router, moe.num_experts, hidden});
    // Latent MoE: down to the experts' width and back.
    if (moe.expert_input_size > 0)
      list.push_back({"latent_gemm", WeightKind::router, 2 * input, hidden});
    for (const Matrix& m : two_or_three(model, WeightKind::experts, input, width, local))
      list.push_back(m);
    if (moe.shared_size() > 0)
      for (const Matrix& m : two_or_three(model, WeightKind::shared_experts, hidden,
                                          ceil_div(moe.shared_size(), tp), 1))
        list.push_back(m);
  }
  set_bits(list, model);
  return list;
}

Matrix embedding_matrix(const ModelSpec& model, const ParallelPlan& plan) {
  return {"embedding",
          WeightKind::embedding,
          ceil_div(model.vocab_size, plan.tensor_parallel_size),
          model.hidden_size,
          1,
          stored_bits(model, WeightKind::embedding)};
}

Matrix head_matrix(const ModelSpec& model, const ParallelPlan& plan) {
  return {"lm_head",
          WeightKind::lm_head,
          ceil_div(model.vocab_size, plan.tensor_parallel_size),
          model.hidden_size,
          1,
          stored_bits(model, WeightKind::lm_head)};
}

double stored_bits(const ModelSpec& model, WeightKind kind) {
  const Quantization& q = model.quantization;
  const double wide = bits(model.dtype), narrow = q.bits_with_scales();
  if (q.method == "none") return wide;
  switch (kind) {
    case WeightKind::embedding:
    case WeightKind::lm_head:
      return q.method == "gguf" ? narrow : wide;
    case WeightKind::attention:
    case WeightKind::indexer:
    case WeightKind::recurrent:
      if (q.experts_only && q.other_bits > 0) return q.other_bits;
      return q.experts_only || q.attention_wide ? wide : narrow;
    case WeightKind::dense_mlp:
    case WeightKind::shared_experts:
      if (q.experts_only && q.other_bits > 0) return q.other_bits;
      return q.experts_only ? wide : narrow;
    case WeightKind::experts:
      return narrow;
    case WeightKind::router:
    case WeightKind::norms:
    case WeightKind::extra:
    case WeightKind::vision:
      return wide;
  }
  return wide;
}

DType compute_dtype(const ModelSpec& model, WeightKind kind, const GpuSpec& gpu) {
  const std::string& method = model.quantization.method;
  if (stored_bits(model, kind) >= bits(model.dtype)) return model.dtype;
  if (model.quantization.other_bits == 8 && kind != WeightKind::experts) return DType::fp8;
  if (method == "fp8" || method == "fp8_block") return DType::fp8;
  if (method == "int8") return DType::int8;
  if (method == "compressed-tensors" && model.quantization.bits == 8) return DType::fp8;
  // 4-bit floats multiply natively only where the part has such units; MXFP4 weights then meet
  // 8-bit activations.
  if (method == "nvfp4" && gpu.fp4_tflops > 0) return DType::fp4;
  if (method == "mxfp4" && gpu.fp4_tflops > 0) return DType::fp8;
  return model.dtype;
}

double WeightBytes::total() const { return std::accumulate(by_kind.begin(), by_kind.end(), 0.0); }

WeightBytes weight_bytes(const ModelSpec& model, const ParallelPlan& plan, std::int64_t first,
                         std::int64_t last) {
  WeightBytes result;
  auto add = [&](const Matrix& m) {
    result.by_kind[static_cast<std::size_t>(m.kind)] += m.bytes();
  };
  const double wide = static_cast<double>(bits(model.dtype)) / 8;
  for (std::int64_t layer = first; layer < last; ++layer) {
    const LayerGroup& g = model.group_of(layer);
    const std::int64_t all = model.layers_in(
        static_cast<std::size_t>(model.layer_group[static_cast<std::size_t>(layer)]));
    for (const Matrix& m : attention_matrices(model, g, plan)) {
      // An indexer that not every layer owns is spread evenly.
      const double owners = m.kind == WeightKind::indexer && g.indexer->layers > 0
                                ? static_cast<double>(g.indexer->layers)
                                : static_cast<double>(all);
      result.by_kind[static_cast<std::size_t>(m.kind)] +=
          m.bytes() * owners / static_cast<double>(all);
    }
    for (const Matrix& m : mlp_matrices(model, g, mlp_of(model, layer), plan)) add(m);
    result.by_kind[static_cast<std::size_t>(WeightKind::norms)] +=
        2 * static_cast<double>(model.hidden_size) * wide;
  }
  if (first == 0) {
    const double tp = plan.tensor_parallel_size;
    add(embedding_matrix(model, plan));
    result.by_kind[static_cast<std::size_t>(WeightKind::extra)] +=
        static_cast<double>(model.extra_params) * wide / tp;
    result.by_kind[static_cast<std::size_t>(WeightKind::vision)] +=
        static_cast<double>(model.vision_params) * wide / tp;
  }
  if (last == model.num_layers)
    result.by_kind[static_cast<std::size_t>(WeightKind::norms)] +=
        static_cast<double>(model.hidden_size) * wide;
  // A tied head shares the embedding's memory where both are on one stage.
  if (last == model.num_layers && (!model.tie_word_embeddings || first != 0))
    add(head_matrix(model, plan));
  return result;
}

}  // namespace kvsim::spec
