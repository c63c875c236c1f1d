#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spec/hf/family.h"

// Llama-Nemotron: every layer has its own attention (or none) and MLP width, listed in
// block_configs.
namespace kvsim::spec::hf {
namespace {

bool truthy(const config::Value& v) {
  return v.exists() && v.kind() == config::Kind::boolean && v.boolean();
}

bool given(const config::Value& v) { return v.exists() && !v.is_null(); }

// A multiple of two thirds of the hidden size, rounded up to 256.
std::int64_t mlp_width(double multiple, std::int64_t hidden) {
  const auto width =
      static_cast<std::int64_t>(std::floor(2 * multiple * static_cast<double>(hidden) / 3));
  return ceil_div(width, 256) * 256;
}

}  // namespace

void import_nemotron_nas(View& view, ModelSpec& model) {
  const config::Value blocks = view.find("block_configs");
  if (!blocks.exists() || !blocks.is_array()) return view.missing("block_configs");
  if (static_cast<std::int64_t>(blocks.size()) != model.num_layers)
    return view.fail("block_configs", fmt::format("block_configs has {} entries for {} layers",
                                                  blocks.size(), model.num_layers));
  const std::int64_t heads = view.need("num_attention_heads");
  const std::int64_t head_dim =
      view.get("head_dim", std::max<std::int64_t>(model.hidden_size / heads, 1), 1);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto refuse = [&](std::string_view why) {
      view.fail("block_configs", fmt::format("block_configs/{}: {}", i, why));
    };
    const config::Value block = blocks.at(i);
    if (!block.is_object() || !block.find("attention").exists() ||
        !block.find("attention").is_object() || !block.find("ffn").exists() ||
        !block.find("ffn").is_object())
      return refuse("expected an object with attention and ffn");
    const config::Value attention = block.find("attention"), ffn = block.find("ffn");
    if (truthy(attention.find("replace_with_linear")) || truthy(ffn.find("replace_with_linear")) ||
        given(attention.find("window_length")) || given(attention.find("num_sink_tokens")))
      return refuse("linear replacements, windows and sinks cannot be described");
    LayerGroup group;
    if (truthy(attention.find("no_op"))) {
      group.attention = AttentionKind::none;
    } else {
      const config::Value per_group = attention.find("n_heads_in_group");
      if (!per_group.exists() || per_group.kind() != config::Kind::integer ||
          per_group.integer() < 1 || heads % per_group.integer() != 0)
        return refuse(fmt::format("n_heads_in_group must divide the {} heads", heads));
      group.num_heads = heads, group.num_kv_heads = heads / per_group.integer(),
      group.head_dim = head_dim;
    }
    if (truthy(ffn.find("no_op"))) {
      group.has_mlp = false;
    } else {
      const config::Value multiple = ffn.find("ffn_mult");
      if (!multiple.exists() ||
          (multiple.kind() != config::Kind::number && multiple.kind() != config::Kind::integer) ||
          !(multiple.number() > 0) || multiple.number() > 1000)
        return refuse("ffn needs ffn_mult, a number above 0");
      group.intermediate_size = mlp_width(multiple.number(), model.hidden_size);
    }
    group.name = fmt::format(
        "{}_{}",
        group.attention == AttentionKind::none ? "none" : fmt::format("kv{}", group.num_kv_heads),
        group.intermediate_size);
    model.layer_pattern.push_back(group.name);
    if (std::ranges::none_of(model.layer_groups,
                             [&](const LayerGroup& g) { return g.name == group.name; }))
      model.layer_groups.push_back(group);
  }
}

}  // namespace kvsim::spec::hf
