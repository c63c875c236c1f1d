#include "spec/parameters.h"

namespace kvsim::spec {
namespace {

std::int64_t mlp_matrices(const ModelSpec& model) { return model.gated_mlp ? 3 : 2; }

std::int64_t indexer_parameters(const ModelSpec& model, const LayerGroup& group) {
  const Indexer& index = *group.indexer;
  const std::int64_t query_input = group.q_lora_rank > 0 ? group.q_lora_rank : model.hidden_size;
  return query_input * index.heads * index.head_dim +
         model.hidden_size * (index.head_dim + index.heads);
}

std::int64_t query_parameters(const ModelSpec& model, const LayerGroup& group, std::int64_t width) {
  if (group.q_lora_rank > 0)
    return model.hidden_size * group.q_lora_rank + group.q_lora_rank * width;
  return model.hidden_size * width * (group.output_gate ? 2 : 1);
}

std::int64_t output_parameters(const ModelSpec& model, const LayerGroup& group,
                               std::int64_t width) {
  // Grouped low rank: each of o_groups slices of the heads has its own projection to o_lora_rank.
  if (group.o_lora_rank > 0)
    return width * group.o_lora_rank + group.o_groups * group.o_lora_rank * model.hidden_size;
  return width * model.hidden_size;
}

std::int64_t attention_parameters(const ModelSpec& model, const LayerGroup& group) {
  const std::int64_t hidden = model.hidden_size, heads = group.num_heads;
  if (group.attention == AttentionKind::mla) {
    const std::int64_t up =
        group.kv_lora_rank * heads * (group.qk_nope_head_dim + group.value_dim());
    return query_parameters(model, group,
                            heads * (group.qk_nope_head_dim + group.qk_rope_head_dim)) +
           hidden * (group.kv_lora_rank + group.qk_rope_head_dim) + up +
           output_parameters(model, group, heads * group.value_dim());
  }
  const std::int64_t kv_width =
      group.shared_kv_tensor ? group.head_dim : group.head_dim + group.value_dim();
  const std::int64_t kv = group.owns_kv ? hidden * group.num_kv_heads * kv_width : 0;
  return query_parameters(model, group, heads * group.head_dim) + kv +
         output_parameters(model, group, heads * group.value_dim());
}

// Input projections, convolution and output projection; the few parameters per head (decays,
// biases) are counted because Mamba has thousands of heads.
std::int64_t recurrent_parameters(const ModelSpec& model, const RecurrentState& state) {
  const std::int64_t hidden = model.hidden_size;
  const std::int64_t values = state.value_heads * state.value_dim,
                     keys = state.key_heads * state.key_dim;
  const std::int64_t convolution = state.conv_channels * state.conv_kernel;
  const std::int64_t output = values * hidden;
  switch (state.kind) {
    case RecurrentKind::gated_delta_net:
      return hidden * (state.conv_channels + values + 2 * state.value_heads) + convolution +
             output + 2 * state.value_heads;
    case RecurrentKind::kda:  // decay and output gate are low-rank, of the value head's width
      return hidden * (2 * keys + values) + 2 * (hidden + values) * state.value_dim +
             hidden * state.value_heads + convolution + output;
    case RecurrentKind::mamba2:
      return hidden * (state.conv_channels + values + state.value_heads) + convolution + output +
             3 * state.value_heads + values;
    case RecurrentKind::mamba1: {
      const std::int64_t dt_rank = ceil_div(hidden, 16);
      return 2 * hidden * values + convolution + values * (2 * dt_rank + 3 * state.key_dim + 1) +
             output;
    }
    case RecurrentKind::lightning:
      return hidden * (2 * keys + 2 * values) + output;
  }
  return 0;
}

std::int64_t mixer_parameters(const ModelSpec& model, const LayerGroup& group) {
  switch (group.attention) {
    case AttentionKind::none:
      return 0;
    case AttentionKind::recurrent:
      return recurrent_parameters(model, *group.recurrent);
    case AttentionKind::full:
    case AttentionKind::sliding_window:
    case AttentionKind::chunked_local:
    case AttentionKind::mla:
      return attention_parameters(model, group);
  }
  return 0;
}

std::int64_t router_parameters(const ModelSpec& model) {
  const MoE& moe = *model.moe;
  const std::int64_t latent =
      moe.expert_input_size > 0 ? 2 * model.hidden_size * moe.expert_input_size : 0;
  return model.hidden_size * moe.num_experts + latent;
}

}  // namespace

std::int64_t expert_parameters(const ModelSpec& model) {
  if (!model.moe) return 0;
  const std::int64_t width =
      model.moe->expert_input_size > 0 ? model.moe->expert_input_size : model.hidden_size;
  return mlp_matrices(model) * width * model.moe->moe_intermediate_size;
}

LayerParameters layer_parameters(const ModelSpec& model, std::int64_t layer) {
  const LayerGroup& group = model.group_of(layer);
  LayerParameters count;
  count.mixer = mixer_parameters(model, group);
  // An indexer that not every layer owns is spread evenly: the layers differ by less than a
  // rounding.
  if (group.indexer) {
    const std::int64_t layers = model.layers_in(
        static_cast<std::size_t>(model.layer_group[static_cast<std::size_t>(layer)]));
    const std::int64_t owners = group.indexer->layers > 0 ? group.indexer->layers : layers;
    count.mixer += indexer_parameters(model, group) * owners / layers;
  }
  const bool has_mixer = group.attention != AttentionKind::none;
  count.norms = model.hidden_size * ((has_mixer ? 1 : 0) + (group.has_mlp ? 1 : 0));
  if (!group.has_mlp) return count;
  if (model.is_moe_layer(layer)) {
    count.router = router_parameters(model);
    count.experts = model.moe->num_experts * expert_parameters(model);
    count.shared = mlp_matrices(model) * model.hidden_size * model.moe->shared_size();
  } else {
    count.mlp = mlp_matrices(model) * model.hidden_size *
                (group.intermediate_size > 0 ? group.intermediate_size : model.intermediate_size);
  }
  return count;
}

ModelParameters count_parameters(const ModelSpec& model) {
  ModelParameters count;
  count.embedding = model.vocab_size * model.hidden_size;
  count.lm_head = model.tie_word_embeddings ? 0 : count.embedding;
  count.extra = model.extra_params;
  count.vision = model.vision_params;
  count.layers.norms = model.hidden_size;
  for (std::int64_t i = 0; i < model.num_layers; ++i) {
    const LayerParameters layer = layer_parameters(model, i);
    count.layers.mixer += layer.mixer, count.layers.mlp += layer.mlp,
        count.layers.router += layer.router;
    count.layers.experts += layer.experts, count.layers.shared += layer.shared,
        count.layers.norms += layer.norms;
  }
  // An MTP layer is one more layer of the last kind behind a projection of two hidden states to
  // one.
  if (model.num_mtp_layers > 0 && model.num_layers > 0)
    count.mtp = model.num_mtp_layers * (layer_parameters(model, model.num_layers - 1).total() +
                                        2 * model.hidden_size * model.hidden_size);
  const std::int64_t routed =
      model.moe ? count.layers.experts / model.moe->num_experts * model.moe->num_experts_per_tok
                : 0;
  count.active = count.layers.total() - count.layers.experts + routed + count.embedding;
  return count;
}

}  // namespace kvsim::spec
