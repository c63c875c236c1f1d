#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diag/suggest.h"
#include "spec/model_spec.h"

namespace kvsim::spec {
namespace {

// Reports problems of one model under its file's name.
class Checker {
 public:
  Checker(const std::string& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  void fail(std::string pointer, std::string message, std::string hint = {}) {
    Diagnostic d;
    d.code = "model-inconsistent", d.file = file_;
    d.pointer = std::move(pointer), d.message = std::move(message), d.hint = std::move(hint);
    diagnostics_.add(std::move(d));
  }
  void need(const std::string& pointer, const LayerGroup& group, std::string_view field,
            std::int64_t value) {
    if (value <= 0)
      fail(pointer + "/" + std::string(field),
           fmt::format("layer group \"{}\" is {}: it needs {} above 0", group.name,
                       attention_names[static_cast<std::size_t>(group.attention)], field));
  }

 private:
  const std::string& file_;
  Diagnostics& diagnostics_;
};

void check_heads(Checker& check, const std::string& at, const LayerGroup& g) {
  check.need(at, g, "num_heads", g.num_heads);
  check.need(at, g, "num_kv_heads", g.num_kv_heads);
  check.need(at, g, "head_dim", g.head_dim);
  if (g.num_heads > 0 && g.num_kv_heads > 0 && g.num_heads % g.num_kv_heads != 0)
    check.fail(at + "/num_kv_heads",
               fmt::format("layer group \"{}\": num_heads {} is not a multiple of num_kv_heads {}",
                           g.name, g.num_heads, g.num_kv_heads));
}

void check_group(Checker& check, const std::string& at, LayerGroup& g, const ModelSpec& model) {
  if (g.name.empty()) check.fail(at + "/name", "a layer group needs a name");
  switch (g.attention) {
    case AttentionKind::none:
      break;
    case AttentionKind::full:
      check_heads(check, at, g);
      break;
    case AttentionKind::sliding_window:
    case AttentionKind::chunked_local:
      check_heads(check, at, g);
      check.need(at, g, "window", g.window);
      break;
    case AttentionKind::mla:
      check.need(at, g, "num_heads", g.num_heads);
      check.need(at, g, "kv_lora_rank", g.kv_lora_rank);
      check.need(at, g, "qk_nope_head_dim", g.qk_nope_head_dim);
      check.need(at, g, "v_head_dim", g.v_head_dim);
      break;
    case AttentionKind::recurrent:
      if (!g.recurrent)
        check.fail(at + "/recurrent",
                   fmt::format("layer group \"{}\" is recurrent: it needs a \"recurrent\" object",
                               g.name));
      break;
  }
  const bool windowed =
      g.attention == AttentionKind::sliding_window || g.attention == AttentionKind::chunked_local;
  if (g.window > 0 && !windowed)
    check.fail(at + "/window",
               fmt::format(
                   "layer group \"{}\": a window belongs to sliding_window or chunked_local layers",
                   g.name));
  if (g.recurrent && g.attention != AttentionKind::recurrent)
    check.fail(
        at + "/recurrent",
        fmt::format("layer group \"{}\": a recurrent state belongs to recurrent layers", g.name));
  if (g.recurrent && g.recurrent->state_elements == 0)
    g.recurrent->state_elements =
        g.recurrent->value_heads * g.recurrent->key_dim * g.recurrent->value_dim;
  if ((g.o_lora_rank > 0) != (g.o_groups > 0))
    check.fail(at + "/o_groups", "o_lora_rank and o_groups are given together or not at all");
  if (!g.owns_kv && g.attention != AttentionKind::full &&
      g.attention != AttentionKind::sliding_window)
    check.fail(at + "/owns_kv",
               "only full and sliding_window layers can read the KV of another group");
  if (g.has_mlp && !model.moe && g.intermediate_size == 0 && model.intermediate_size == 0)
    check.fail(
        at + "/has_mlp",
        fmt::format("layer group \"{}\" has an MLP, but intermediate_size is 0 and there is no moe",
                    g.name));
}

void assign_layers(Checker& check, ModelSpec& model) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < model.layer_groups.size(); ++i) {
    names.push_back(model.layer_groups[i].name);
    if (!seen.insert(names.back()).second)
      check.fail(fmt::format("/layer_groups/{}/name", i),
                 fmt::format("two layer groups are named \"{}\"", names.back()));
  }
  if (model.layer_pattern.empty() && names.size() > 1)
    return check.fail("/layer_pattern", "a model of several layer groups needs a layer_pattern");
  if (static_cast<std::int64_t>(model.layer_pattern.size()) > model.num_layers)
    return check.fail("/layer_pattern", fmt::format("layer_pattern has {} entries for {} layers",
                                                    model.layer_pattern.size(), model.num_layers));
  std::vector<int> pattern;
  if (model.layer_pattern.empty()) pattern.push_back(0);
  for (std::size_t i = 0; i < model.layer_pattern.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), model.layer_pattern[i]);
    if (found == names.end())
      return check.fail(fmt::format("/layer_pattern/{}", i),
                        fmt::format("no layer group is named \"{}\"", model.layer_pattern[i]),
                        suggestion(model.layer_pattern[i], names));
    pattern.push_back(static_cast<int>(found - names.begin()));
  }
  for (std::int64_t i = 0; i < model.num_layers; ++i)
    model.layer_group.push_back(pattern[static_cast<std::size_t>(i) % pattern.size()]);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (model.layers_in(i) == 0)
      check.fail(fmt::format("/layer_groups/{}", i),
                 fmt::format("no layer is of group \"{}\"", names[i]));
}

// Products of dimensions are computed in int64 everywhere else: here, in double, it is made sure
// that they fit. Real models stay four orders of magnitude below.
constexpr double largest = 1e17;

double wide(std::int64_t n) { return static_cast<double>(n); }

double mixer_size(const ModelSpec& m, const LayerGroup& g) {
  const double inner = wide(m.hidden_size) + wide(g.q_lora_rank) + wide(g.kv_lora_rank) +
                       wide(g.o_lora_rank) * (1 + wide(g.o_groups));
  const double head =
      wide(g.head_dim) + wide(g.v_head_dim) + wide(g.qk_rope_head_dim) + wide(g.qk_nope_head_dim);
  const double heads = 2 * (wide(g.num_heads) + wide(g.num_kv_heads) + 1) * head;
  double size = heads * (inner + wide(g.window)) + inner * inner;
  if (g.indexer) size += (wide(g.indexer->heads) + 1) * wide(g.indexer->head_dim) * inner;
  if (g.compression)
    size += wide(g.compression->state_bytes) +
            (wide(g.compression->entry_dim) + wide(g.compression->index_dim)) *
                (wide(g.compression->window) + 1);
  if (g.recurrent) {
    const RecurrentState& r = *g.recurrent;
    const double values = wide(r.value_heads) * wide(r.value_dim),
                 keys = wide(r.key_heads) * wide(r.key_dim);
    size += (2 * values + 2 * keys + wide(r.conv_channels)) *
                (inner + wide(r.conv_kernel) + wide(r.value_dim)) +
            values * wide(r.key_dim) + wide(r.state_elements);
  }
  return size;
}

bool fits(Checker& check, const ModelSpec& m) {
  const double layers = wide(m.num_layers), hidden = wide(m.hidden_size);
  const auto refuse = [&](std::string pointer) {
    check.fail(std::move(pointer), "these dimensions give over 10^17 parameters or bytes",
               "one of them must be mistaken");
    return false;
  };
  if (3 * hidden * (wide(m.vocab_size) + layers * wide(m.intermediate_size)) > largest)
    return refuse("/hidden_size");
  if (wide(m.vision_params) + wide(m.extra_params) > largest) return refuse("/extra_params");
  for (std::size_t i = 0; i < m.layer_groups.size(); ++i)
    if (layers * (mixer_size(m, m.layer_groups[i]) +
                  3 * hidden * wide(m.layer_groups[i].intermediate_size)) >
        largest)
      return refuse(fmt::format("/layer_groups/{}", i));
  if (!m.moe) return true;
  const double width = hidden + wide(m.moe->expert_input_size);
  const double inner = wide(m.moe->num_experts) * (wide(m.moe->moe_intermediate_size) + 1) +
                       wide(m.moe->num_shared_experts) * wide(m.moe->moe_intermediate_size) +
                       wide(m.moe->shared_expert_intermediate_size);
  return layers * 3 * width * inner <= largest || refuse("/moe");
}

bool valid_id(const std::string& id) {
  for (const char c : id)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.')) return false;
  return !id.empty();
}

}  // namespace

void finalize(ModelSpec& model, const std::string& file, Diagnostics& diagnostics) {
  Checker check(file, diagnostics);
  model.layer_group.clear();
  if (!valid_id(model.id))
    check.fail(
        "/id",
        fmt::format("id \"{}\": expected lower-case letters, digits, dots and hyphens", model.id));
  if (model.layer_groups.empty())
    return check.fail("/layer_groups", "a model needs at least one layer group");
  if (!fits(check, model)) return;
  for (std::size_t i = 0; i < model.layer_groups.size(); ++i)
    check_group(check, fmt::format("/layer_groups/{}", i), model.layer_groups[i], model);
  if (model.moe) {
    if (model.moe->num_experts_per_tok > model.moe->num_experts)
      check.fail("/moe/num_experts_per_tok",
                 fmt::format("{} experts per token, but only {} experts",
                             model.moe->num_experts_per_tok, model.moe->num_experts));
    const bool has_dense = model.moe->first_dense_layers > 0 || model.moe->layer_step > 1;
    bool own_width = true;
    for (const LayerGroup& g : model.layer_groups) own_width &= g.intermediate_size > 0;
    if (has_dense && model.intermediate_size == 0 && !own_width)
      check.fail("/intermediate_size", "dense layers need intermediate_size");
  }
  if (model.num_layers > 0) assign_layers(check, model);
}

}  // namespace kvsim::spec
