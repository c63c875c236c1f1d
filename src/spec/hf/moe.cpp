#include <fmt/format.h>

#include "spec/hf/family.h"

// Mixtures of experts over grouped-query attention.
namespace kvsim::spec::hf {
namespace {

MoE experts(View& view, std::string_view count_field, std::string_view width_field) {
  MoE moe;
  moe.num_experts = view.need(count_field);
  moe.num_experts_per_tok = view.need("num_experts_per_tok");
  moe.moe_intermediate_size = view.need(width_field);
  return moe;
}

// Layers that a list marks as dense (mlp_only_layers) must be the first ones.
void leading_dense_layers(View& view, MoE& moe) {
  const std::vector<std::int64_t> layers = view.integers("mlp_only_layers");
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i] != static_cast<std::int64_t>(i))
      return view.fail("mlp_only_layers",
                       "mlp_only_layers: only a run of first layers can be described");
  moe.first_dense_layers = static_cast<std::int64_t>(layers.size());
}

// A list of 0 and 1 per layer: zeros first, then ones.
std::int64_t leading_zeros(View& view, std::string_view field,
                           const std::vector<std::int64_t>& list, std::int64_t layers) {
  if (static_cast<std::int64_t>(list.size()) < layers) {
    view.fail(field, fmt::format("{} has {} entries for {} layers", field, list.size(), layers));
    return 0;
  }
  std::int64_t zeros = 0;
  while (zeros < layers && list[static_cast<std::size_t>(zeros)] == 0) ++zeros;
  for (std::int64_t i = zeros; i < layers; ++i)
    if (list[static_cast<std::size_t>(i)] == 0) {
      view.fail(field, fmt::format("{}: only zeros followed by ones can be described", field));
      break;
    }
  return zeros;
}

LayerGroup windowed_group(View& view, const std::string& word) {
  if (word == "full_attention") return attention_group(view, "global", AttentionKind::full);
  if (word != "sliding_attention") no_group_of(view, word);
  LayerGroup group = attention_group(view, "local", AttentionKind::sliding_window);
  group.window = view.need("sliding_window");
  return group;
}

}  // namespace

void import_mixtral(View& view, ModelSpec& model) {
  model.moe = experts(view, "num_local_experts", "intermediate_size");
  LayerGroup group = attention_group_hidden_over_heads(view, "full", AttentionKind::full);
  if (const std::int64_t window = view.get("sliding_window", 0, 1);
      window > 0 && window < model.max_position_embeddings)
    group.name = "window", group.attention = AttentionKind::sliding_window, group.window = window;
  single_group(model, group);
}

void import_qwen2_moe(View& view, ModelSpec& model) {
  import_qwen2(view, model);
  MoE moe = experts(view, "num_experts", "moe_intermediate_size");
  moe.layer_step = view.get("decoder_sparse_step", 1, 1);
  moe.shared_expert_intermediate_size = view.get("shared_expert_intermediate_size", 0);
  moe.num_shared_experts = moe.shared_expert_intermediate_size > 0 ? 1 : 0;
  leading_dense_layers(view, moe);
  model.moe = moe;
}

void import_qwen3_moe(View& view, ModelSpec& model) {
  view.need("head_dim");
  import_qwen2_moe(view, model);
}

void import_glm4_moe(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  MoE moe = experts(view, "n_routed_experts", "moe_intermediate_size");
  moe.num_shared_experts = view.get("n_shared_experts", 0);
  moe.first_dense_layers = view.get("first_k_dense_replace", 0);
  model.moe = moe;
  model.num_mtp_layers = view.get("num_nextn_predict_layers", 0);
  single_group(model, attention_group(view, "full", AttentionKind::full));
}

void import_minimax_m2(View& view, ModelSpec& model) {
  for (const std::int64_t kind : view.integers("attn_type_list"))
    if (kind != 1) {
      view.fail("attn_type_list",
                "attn_type_list: only full attention (1) is known in this family");
      break;
    }
  MoE moe = experts(view, "num_local_experts", "intermediate_size");
  moe.shared_expert_intermediate_size = view.get("shared_intermediate_size", 0);
  moe.num_shared_experts = moe.shared_expert_intermediate_size > 0 ? 1 : 0;
  model.moe = moe;
  if (view.flag("use_mtp", false)) model.num_mtp_layers = view.get("num_mtp_modules", 0);
  single_group(model, attention_group(view, "full", AttentionKind::full));
}

void import_minimax_m3(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("dense_intermediate_size");
  MoE moe = experts(view, "num_local_experts", "moe_intermediate_size");
  moe.num_shared_experts = view.get("n_shared_experts", 0);
  moe.shared_expert_intermediate_size =
      moe.num_shared_experts * view.get("shared_intermediate_size", 0);
  moe.first_dense_layers =
      leading_zeros(view, "moe_layer_freq", view.integers("moe_layer_freq"), model.num_layers);
  model.moe = moe;
  model.num_mtp_layers = view.get("num_mtp_modules", 0);

  const config::Value sparse = view.find("sparse_attention_config");
  if (!sparse.exists() || !sparse.is_object()) return view.missing("sparse_attention_config");
  const auto number = [&](std::string_view name) {
    const config::Value v = sparse.find(name);
    if (v.exists() && v.kind() == config::Kind::integer && v.integer() > 0 &&
        v.integer() <= 1 << 30)
      return v.integer();
    view.fail(
        "sparse_attention_config",
        fmt::format("sparse_attention_config needs {}, a whole number from 1 up to 2^30", name));
    return std::int64_t{1};
  };
  Indexer indexer;
  indexer.heads = number("sparse_num_index_heads"), indexer.head_dim = number("sparse_index_dim");
  indexer.block = number("sparse_block_size"),
  indexer.top_k = number("sparse_topk_blocks") * indexer.block;
  indexer.stores_keys = false;
  view.assume("The configuration does not say whether index keys are cached; none are counted.");
  std::vector<std::int64_t> frequency;
  if (const config::Value list = sparse.find("sparse_attention_freq");
      list.exists() && list.is_array())
    for (std::size_t i = 0; i < list.size(); ++i)
      frequency.push_back(list.at(i).kind() == config::Kind::integer ? list.at(i).integer() : 0);
  const std::int64_t dense =
      leading_zeros(view, "sparse_attention_config", frequency, model.num_layers);

  LayerGroup group = attention_group(view, "dense", AttentionKind::full);
  if (dense > 0) model.layer_groups.push_back(group);
  group.name = "sparse", group.indexer = indexer;
  if (dense < model.num_layers) model.layer_groups.push_back(group);
  for (std::int64_t i = 0; i < model.num_layers; ++i)
    model.layer_pattern.push_back(i < dense ? "dense" : "sparse");
}

void import_step3(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  MoE moe = experts(view, "num_experts", "moe_intermediate_size");
  moe.num_shared_experts = view.get("n_shared_experts", 0);
  moe.shared_expert_intermediate_size = view.get("share_expert_dim", 0);
  moe.first_dense_layers = view.get("first_k_dense_replace", 0);
  model.moe = moe;
  model.num_mtp_layers = view.get("num_nextn_predict_layers", 0);
  groups_from_layer_types(view, model, windowed_group);
}

void import_gpt_oss(View& view, ModelSpec& model) {
  model.moe = experts(view, "num_local_experts", "intermediate_size");
  groups_from_layer_types(view, model, windowed_group);
}

void import_llama4(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size_mlp");
  MoE moe = experts(view, "num_local_experts", "intermediate_size");
  moe.layer_step = view.need("interleave_moe_layer_step");
  moe.num_shared_experts = 1;  // every MoE layer of this family has one, of an expert's width
  model.moe = moe;
  const std::int64_t chunk = view.get("attention_chunk_size", 0, 1);
  if (chunk == 0) return single_group(model, attention_group(view, "global", AttentionKind::full));
  LayerGroup local = attention_group(view, "chunk", AttentionKind::chunked_local);
  local.window = chunk;
  model.layer_groups = {local, attention_group(view, "global", AttentionKind::full)};
  // Layers with rotary positions (1) are chunked, those without (0) attend to everything.
  const std::vector<std::int64_t> rope = view.integers("no_rope_layers");
  if (!rope.empty() && static_cast<std::int64_t>(rope.size()) != model.num_layers)
    return view.fail("no_rope_layers", fmt::format("no_rope_layers has {} entries for {} layers",
                                                   rope.size(), model.num_layers));
  const std::int64_t interval = rope.empty() ? view.get_or_default("no_rope_layer_interval", 4) : 0;
  for (std::int64_t i = 0; i < model.num_layers; ++i) {
    const bool chunked =
        rope.empty() ? (i + 1) % interval != 0 : rope[static_cast<std::size_t>(i)] != 0;
    model.layer_pattern.push_back(chunked ? "chunk" : "global");
  }
}

void import_mimo_v2(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  MoE moe = experts(view, "n_routed_experts", "moe_intermediate_size");
  moe.num_shared_experts = view.get("n_shared_experts", 0);
  const std::vector<std::int64_t> moe_layers = view.integers("moe_layer_freq");
  if (moe_layers.empty()) return view.missing("moe_layer_freq");
  moe.first_dense_layers = leading_zeros(view, "moe_layer_freq", moe_layers, model.num_layers);
  model.moe = moe;
  LayerGroup global = attention_group(view, "global", AttentionKind::full);
  global.v_head_dim = view.need("v_head_dim");
  LayerGroup local = global;
  local.name = "local", local.attention = AttentionKind::sliding_window;
  local.num_heads = view.need("swa_num_attention_heads"),
  local.num_kv_heads = view.need("swa_num_key_value_heads");
  local.head_dim = view.need("swa_head_dim"), local.v_head_dim = view.need("swa_v_head_dim");
  local.window = view.need_any({"sliding_window_size", "sliding_window"});
  model.layer_groups = {local, global};
  const std::vector<std::int64_t> pattern = view.integers("hybrid_layer_pattern");
  if (static_cast<std::int64_t>(pattern.size()) != model.num_layers)
    return view.fail("hybrid_layer_pattern",
                     fmt::format("hybrid_layer_pattern has {} entries for {} layers",
                                 pattern.size(), model.num_layers));
  for (const std::int64_t windowed : pattern)
    model.layer_pattern.push_back(windowed != 0 ? "local" : "global");
}

}  // namespace kvsim::spec::hf
