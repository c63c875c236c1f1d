#include <fmt/format.h>

#include <algorithm>

#include "spec/hf/family.h"

// Latent attention (DeepSeek V2 to V3.2, Kimi K2, GLM-5) and compressed attention (DeepSeek-V4).
namespace kvsim::spec::hf {
namespace {

LayerGroup latent_group(View& view) {
  LayerGroup group;
  group.name = "mla", group.attention = AttentionKind::mla;
  group.num_heads = view.need("num_attention_heads"), group.num_kv_heads = 1;
  group.q_lora_rank = view.get("q_lora_rank", 0, 1);
  group.kv_lora_rank = view.need("kv_lora_rank");
  group.qk_rope_head_dim = view.need("qk_rope_head_dim"),
  group.qk_nope_head_dim = view.need("qk_nope_head_dim");
  group.head_dim = group.qk_rope_head_dim + group.qk_nope_head_dim;
  group.v_head_dim = view.need("v_head_dim");
  return group;
}

std::optional<Indexer> indexer(View& view) {
  if (!view.has("index_topk")) return std::nullopt;
  Indexer out;
  out.heads = view.need("index_n_heads"), out.head_dim = view.need("index_head_dim"),
  out.top_k = view.need("index_topk");
  // IndexShare: layers marked "shared" reuse the indices of an earlier one.
  const std::vector<std::string> types = view.words("indexer_types");
  out.layers = std::ranges::count(types, "full");
  return out;
}

MoE routed_experts(View& view) {
  MoE moe;
  moe.num_experts = view.need("n_routed_experts"),
  moe.num_experts_per_tok = view.need("num_experts_per_tok");
  moe.num_shared_experts = view.get("n_shared_experts", 0);
  moe.moe_intermediate_size = view.need("moe_intermediate_size");
  return moe;
}

}  // namespace

void import_deepseek(View& view, ModelSpec& model) {
  LayerGroup group = latent_group(view);
  group.indexer = indexer(view);
  single_group(model, group);
  model.num_mtp_layers = view.get("num_nextn_predict_layers", 0);
  model.intermediate_size = view.need("intermediate_size");
  if (!view.has("n_routed_experts")) return;
  model.moe = routed_experts(view);
  model.moe->first_dense_layers = view.get("first_k_dense_replace", 0);
  if (view.get("moe_layer_freq", 1, 1) != 1)
    view.fail("moe_layer_freq", "moe_layer_freq: only 1 can be described");
}

void import_deepseek_v4(View& view, ModelSpec& model) {
  LayerGroup base = attention_group(view, "window", AttentionKind::sliding_window);
  base.shared_kv_tensor = true;  // one vector serves as K and V
  base.window = view.need("sliding_window");
  base.q_lora_rank = view.need("q_lora_rank"), base.o_lora_rank = view.need("o_lora_rank"),
  base.o_groups = view.need("o_groups");
  model.moe = routed_experts(view);
  model.num_mtp_layers = view.get("num_nextn_predict_layers", 0);

  const std::vector<std::int64_t> ratios = view.integers("compress_ratios");
  if (static_cast<std::int64_t>(ratios.size()) < model.num_layers)
    return view.fail("compress_ratios", fmt::format("compress_ratios has {} entries for {} layers",
                                                    ratios.size(), model.num_layers));
  std::vector<std::int64_t> seen;
  for (std::int64_t i = 0; i < model.num_layers; ++i) {
    const std::int64_t ratio = ratios[static_cast<std::size_t>(i)];
    const std::string name = ratio == 0 ? "window" : ratio == 4 ? "csa" : "hca";
    model.layer_pattern.push_back(name);
    if (std::ranges::find(seen, ratio) != seen.end()) continue;
    seen.push_back(ratio);
    LayerGroup group = base;
    group.name = name;
    if (ratio > 0) {
      group.attention = AttentionKind::full, group.window = 0;
      Compression& c = group.compression.emplace();
      c.ratio = ratio, c.entry_dim = group.head_dim, c.window = base.window;
      if (ratio == 4) {
        // Overlapping windows of 8 tokens, two halves of the entry each, pooled in float32; the
        // indexer's own compressor works the same on its key.
        group.indexer = indexer(view);
        if (!group.indexer) return view.missing("index_topk");
        group.indexer->stores_keys = false;
        c.index_dim = group.indexer->head_dim;
        c.state_bytes = 8 * 2 * 2 * (c.entry_dim + c.index_dim) * 4;
      } else if (ratio == 128) {
        c.state_bytes = ratio * 2 * c.entry_dim * 4;
      } else {
        view.fail("compress_ratios",
                  fmt::format("compress_ratios: 0, 4 and 128 are known, found {}", ratio));
      }
    }
    model.layer_groups.push_back(group);
  }
}

}  // namespace kvsim::spec::hf
