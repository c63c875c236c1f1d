#include <fmt/format.h>

#include <algorithm>

#include "spec/hf/family.h"

namespace kvsim::spec::hf {
namespace {

LayerGroup heads_group(View& view, std::string name, AttentionKind kind, std::int64_t head_dim) {
  LayerGroup group;
  group.name = std::move(name), group.attention = kind;
  group.num_heads = view.need("num_attention_heads");
  group.num_kv_heads = view.need("num_key_value_heads");
  group.head_dim = head_dim;
  return group;
}

}  // namespace

void import_common(View& view, const Family& family, ModelSpec& model) {
  model.family = family.family;
  if (const config::Value list = view.root().find("architectures");
      list.exists() && list.is_array() && list.size() > 0 && list.at(0).is_string())
    model.architecture = list.at(0).string();
  model.hidden_size = view.need("hidden_size");
  model.num_layers = view.need("num_hidden_layers");
  if (model.num_layers > 100000)
    view.fail("num_hidden_layers", "num_hidden_layers must be at most 100000");
  model.vocab_size = view.need("vocab_size");
  model.max_position_embeddings = view.need("max_position_embeddings");
  const bool tie = family.tie == TieDefault::yes;
  if (!view.has("tie_word_embeddings"))
    view.assume(
        fmt::format("tie_word_embeddings {} is the default of the family in transformers.", tie));
  model.tie_word_embeddings = view.flag("tie_word_embeddings", tie);
  const std::string_view dtype_field = view.has("torch_dtype") ? "torch_dtype" : "dtype";
  if (!view.has(dtype_field)) {
    view.assume("The configuration states no dtype; bfloat16 is assumed.");
  } else if (const auto dtype = parse_dtype(view.word(dtype_field, ""))) {
    model.dtype = *dtype;
  } else {
    view.fail(dtype_field, fmt::format("{}: expected a dtype such as \"bfloat16\"", dtype_field));
  }
}

LayerGroup attention_group(View& view, std::string name, AttentionKind kind) {
  return heads_group(view, std::move(name), kind, view.need("head_dim"));
}

LayerGroup attention_group_hidden_over_heads(View& view, std::string name, AttentionKind kind) {
  if (view.has("head_dim")) return attention_group(view, std::move(name), kind);
  const std::int64_t hidden = view.need("hidden_size"), heads = view.need("num_attention_heads");
  if (hidden % heads != 0)
    view.fail(
        "num_attention_heads",
        fmt::format(
            "hidden_size {} is not a multiple of num_attention_heads {}, and head_dim is not given",
            hidden, heads));
  return heads_group(view, std::move(name), kind, std::max<std::int64_t>(hidden / heads, 1));
}

void no_group_of(View& view, const std::string& word) {
  view.fail("layer_types",
            fmt::format("layer_types: \"{}\" is no kind of layer that this family has", word));
}

void groups_from_layer_types(View& view, ModelSpec& model,
                             LayerGroup (*make)(View&, const std::string&)) {
  const std::vector<std::string> types = view.words("layer_types");
  if (types.empty()) return view.missing("layer_types");
  if (static_cast<std::int64_t>(types.size()) != model.num_layers)
    return view.fail("layer_types", fmt::format("layer_types has {} entries for {} layers",
                                                types.size(), model.num_layers));
  std::vector<std::string> seen;
  for (const std::string& word : types) {
    auto found = std::ranges::find(seen, word);
    if (found == seen.end()) {
      seen.push_back(word);
      model.layer_groups.push_back(make(view, word));
      found = seen.end() - 1;
    }
    model.layer_pattern.push_back(
        model.layer_groups[static_cast<std::size_t>(found - seen.begin())].name);
  }
}

void single_group(ModelSpec& model, LayerGroup group) {
  model.layer_pattern.clear();
  model.layer_groups = {std::move(group)};
}

}  // namespace kvsim::spec::hf
