#include <fmt/format.h>

#include "spec/hf/family.h"

// Dense decoders: one attention group, or a sliding window in some layers.
namespace kvsim::spec::hf {
namespace {

// Configurations from before grouped queries have no num_key_value_heads: every head is its own.
LayerGroup plain_group(View& view) {
  if (view.has("num_key_value_heads"))
    return attention_group_hidden_over_heads(view, "full", AttentionKind::full);
  LayerGroup group;
  group.name = "full";
  group.num_heads = group.num_kv_heads = view.need("num_attention_heads");
  const std::int64_t hidden = view.need("hidden_size");
  if (!view.has("head_dim") && hidden % group.num_heads != 0)
    view.fail(
        "num_attention_heads",
        fmt::format(
            "hidden_size {} is not a multiple of num_attention_heads {}, and head_dim is not given",
            hidden, group.num_heads));
  group.head_dim = view.get("head_dim", std::max<std::int64_t>(hidden / group.num_heads, 1), 1);
  return group;
}

// A window as long as the context slides never.
void slide(View& view, const ModelSpec& model, LayerGroup& group) {
  const std::int64_t window = view.get("sliding_window", 0, 1);
  if (window == 0 || window >= model.max_position_embeddings) return;
  group.name = "window", group.attention = AttentionKind::sliding_window, group.window = window;
}

LayerGroup qwen_group(View& view, const std::string& word) {
  if (word == "full_attention")
    return attention_group_hidden_over_heads(view, "full", AttentionKind::full);
  if (word != "sliding_attention") no_group_of(view, word);
  LayerGroup group =
      attention_group_hidden_over_heads(view, "window", AttentionKind::sliding_window);
  group.window = view.need("sliding_window");
  return group;
}

void import_qwen_attention(View& view, ModelSpec& model) {
  model.num_mtp_layers = view.get("num_nextn_predict_layers", 0);
  if (view.has("layer_types")) return groups_from_layer_types(view, model, qwen_group);
  const std::int64_t first = view.get("max_window_layers", model.num_layers);
  if (!view.flag("use_sliding_window", false) || first >= model.num_layers)
    return single_group(model,
                        attention_group_hidden_over_heads(view, "full", AttentionKind::full));
  model.layer_groups = {qwen_group(view, "full_attention"), qwen_group(view, "sliding_attention")};
  for (std::int64_t i = 0; i < model.num_layers; ++i)
    model.layer_pattern.push_back(i < first ? "full" : "window");
}

}  // namespace

void import_llama(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  single_group(model, plain_group(view));
}

void import_mistral(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  LayerGroup group = attention_group_hidden_over_heads(view, "full", AttentionKind::full);
  slide(view, model, group);
  single_group(model, group);
}

void import_qwen2(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  import_qwen_attention(view, model);
}

// Qwen3 fixes head_dim apart from hidden_size, so it must be given.
void import_qwen3(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  view.need("head_dim");
  import_qwen_attention(view, model);
}

// Families whose windows follow no rule of their own: the file must list the layers.
void import_layer_types(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  groups_from_layer_types(view, model, qwen_group);
}

void import_phi(View& view, ModelSpec& model) {
  model.gated_mlp = false;
  import_llama(view, model);
}

void import_phi3(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  LayerGroup group = plain_group(view);
  slide(view, model, group);
  single_group(model, group);
}

void import_opt(View& view, ModelSpec& model) {
  model.gated_mlp = false;
  model.intermediate_size = view.need("ffn_dim");
  // Learned positions, two more than the context.
  model.extra_params = (model.max_position_embeddings + 2) * model.hidden_size;
  single_group(model, plain_group(view));
}

void import_falcon(View& view, ModelSpec& model) {
  model.gated_mlp = false;
  model.intermediate_size = view.get("ffn_hidden_size", 4 * model.hidden_size, 1);
  LayerGroup group = plain_group(view);
  const bool grouped = view.flag("new_decoder_architecture", false);
  if (grouped)
    group.num_kv_heads = view.need("num_kv_heads");
  else if (view.flag("multi_query", true))
    group.num_kv_heads = 1;
  single_group(model, group);
}

}  // namespace kvsim::spec::hf
