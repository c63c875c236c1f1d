#include <fmt/format.h>

#include "spec/hf/family.h"

// Gemma: windows beside global layers, and layers that share KV.
namespace kvsim::spec::hf {
namespace {

LayerGroup gemma_group(View& view, const std::string& word) {
  if (word == "full_attention") return attention_group(view, "global", AttentionKind::full);
  if (word != "sliding_attention") no_group_of(view, word);
  LayerGroup group = attention_group(view, "local", AttentionKind::sliding_window);
  group.window = view.need("sliding_window");
  return group;
}

// `pattern` layers repeat: all but the last are local.
void periodic(View& view, ModelSpec& model, std::int64_t pattern) {
  model.layer_groups = {gemma_group(view, "sliding_attention"),
                        gemma_group(view, "full_attention")};
  for (std::int64_t i = 0; i < model.num_layers; ++i)
    model.layer_pattern.push_back((i + 1) % pattern == 0 ? "global" : "local");
}

}  // namespace

void import_gemma(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  single_group(model, attention_group(view, "full", AttentionKind::full));
}

void import_gemma2(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  if (view.has("layer_types")) return groups_from_layer_types(view, model, gemma_group);
  periodic(view, model, 2);
}

void import_gemma3(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  if (view.has("layer_types")) return groups_from_layer_types(view, model, gemma_group);
  periodic(view, model,
           view.has("_sliding_window_pattern") ? view.need("_sliding_window_pattern")
                                               : view.get_or_default("sliding_window_pattern", 6));
}

void import_gemma3n(View& view, ModelSpec& model) {
  const std::vector<std::int64_t> widths =
      view.find("intermediate_size").exists() && view.find("intermediate_size").is_array()
          ? view.integers("intermediate_size")
          : std::vector<std::int64_t>{view.need("intermediate_size")};
  for (const std::int64_t width : widths)
    if (width != widths[0] || width < 1)
      view.fail("intermediate_size",
                "intermediate_size: only one width for all layers can be described");
  model.intermediate_size = widths.empty() ? 0 : widths[0];
  const std::int64_t rows = view.need("vocab_size_per_layer_input"),
                     width = view.need("hidden_size_per_layer_input");
  if (static_cast<double>(rows) * static_cast<double>(width) > 1e12)
    view.fail("vocab_size_per_layer_input",
              "the per-layer embeddings would have over 10^12 parameters per layer");
  else
    model.extra_params = model.num_layers * rows * width;
  groups_from_layer_types(view, model, gemma_group);
  const std::int64_t owners = model.num_layers - view.need("num_kv_shared_layers");
  const std::size_t kinds = model.layer_groups.size();
  for (std::size_t i = 0; i < kinds; ++i) {
    LayerGroup shared = model.layer_groups[i];
    shared.name += "_shared", shared.owns_kv = false;
    model.layer_groups.push_back(shared);
  }
  for (std::size_t i = 0; i < model.layer_pattern.size(); ++i)
    if (static_cast<std::int64_t>(i) >= owners) model.layer_pattern[i] += "_shared";
}

void import_gemma4(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  if (view.get("num_kv_shared_layers", 0) > 0)
    view.fail("num_kv_shared_layers",
              "num_kv_shared_layers: shared layers of this family are not described yet");
  groups_from_layer_types(view, model, gemma_group);
  const bool one_tensor = view.flag("attention_k_eq_v", false);
  for (LayerGroup& group : model.layer_groups) {
    if (group.attention != AttentionKind::full) continue;
    group.head_dim = view.get("global_head_dim", group.head_dim, 1);
    group.num_kv_heads = view.get("num_global_key_value_heads", group.num_kv_heads, 1);
    group.shared_kv_tensor = one_tensor;
  }
  if (!view.flag("enable_moe_block", false)) return;
  MoE moe;
  moe.num_experts = view.need("num_experts"), moe.num_experts_per_tok = view.need("top_k_experts");
  moe.moe_intermediate_size = view.need_any({"expert_intermediate_size", "moe_intermediate_size"});
  // Each layer has its dense MLP beside the experts.
  moe.num_shared_experts = 1, moe.shared_expert_intermediate_size = model.intermediate_size;
  model.moe = moe;
}

}  // namespace kvsim::spec::hf
