#include <fmt/format.h>

#include <algorithm>

#include "spec/hf/family.h"

// Attention beside recurrent layers.
namespace kvsim::spec::hf {
namespace {

// The element type of the recurrent state, or what the architecture's engines use when the file is
// silent.
DType state_dtype(View& view, std::string_view field, DType fallback) {
  if (!view.has(field)) {
    view.assume(fmt::format("{} is not stated; {} is assumed for the recurrent state.", field,
                            name(fallback)));
    return fallback;
  }
  const auto dtype = parse_dtype(view.word(field, ""));
  if (!dtype) view.fail(field, fmt::format("{}: expected a dtype such as \"float32\"", field));
  return dtype.value_or(fallback);
}

LayerGroup delta_net_group(View& view, DType conv_dtype) {
  LayerGroup group;
  group.name = "linear", group.attention = AttentionKind::recurrent;
  RecurrentState& s = group.recurrent.emplace();
  s.kind = RecurrentKind::gated_delta_net;
  s.key_heads = view.need("linear_num_key_heads"),
  s.value_heads = view.need("linear_num_value_heads");
  s.key_dim = view.need("linear_key_head_dim"), s.value_dim = view.need("linear_value_head_dim");
  s.conv_kernel = view.need("linear_conv_kernel_dim");
  s.conv_channels = 2 * s.key_heads * s.key_dim + s.value_heads * s.value_dim;
  s.state_dtype = state_dtype(view, "mamba_ssm_dtype", DType::float32);
  s.conv_dtype = conv_dtype;
  return group;
}

}  // namespace

void import_qwen3_next(View& view, ModelSpec& model) {
  LayerGroup linear = delta_net_group(view, model.dtype);
  LayerGroup full = attention_group(view, "full", AttentionKind::full);
  full.output_gate = view.flag("attn_output_gate", true);
  model.layer_groups = {linear, full};
  std::vector<std::string> types = view.words("layer_types");
  if (types.empty()) {
    const std::int64_t interval = view.need("full_attention_interval");
    for (std::int64_t i = 0; i < model.num_layers; ++i)
      types.push_back((i + 1) % interval == 0 ? "full_attention" : "linear_attention");
  }
  if (static_cast<std::int64_t>(types.size()) != model.num_layers)
    return view.fail("layer_types", fmt::format("layer_types has {} entries for {} layers",
                                                types.size(), model.num_layers));
  for (const std::string& type : types) {
    if (type != "full_attention" && type != "linear_attention") no_group_of(view, type);
    model.layer_pattern.push_back(type == "full_attention" ? "full" : "linear");
  }
  model.num_mtp_layers = view.get("mtp_num_hidden_layers", view.get("num_nextn_predict_layers", 0));
  if (!view.has("num_experts")) {
    model.intermediate_size = view.need("intermediate_size");
    return;
  }
  model.intermediate_size = view.get("intermediate_size", 0);
  MoE moe;
  moe.num_experts = view.need("num_experts"),
  moe.num_experts_per_tok = view.need("num_experts_per_tok");
  moe.moe_intermediate_size = view.need("moe_intermediate_size");
  moe.shared_expert_intermediate_size = view.get("shared_expert_intermediate_size", 0);
  moe.num_shared_experts = moe.shared_expert_intermediate_size > 0 ? 1 : 0;
  moe.layer_step = view.get("decoder_sparse_step", 1, 1);
  if (!view.integers("mlp_only_layers").empty())
    view.fail("mlp_only_layers", "mlp_only_layers: a list that is not empty cannot be described");
  model.moe = moe;
}

void import_kimi_linear(View& view, ModelSpec& model) {
  import_deepseek(view, model);
  const config::Value linear = view.find("linear_attn_config");
  if (!linear.exists() || !linear.is_object()) return view.missing("linear_attn_config");
  const auto number = [&](std::string_view field) {
    const config::Value v = linear.find(field);
    if (v.exists() && v.kind() == config::Kind::integer && v.integer() > 0 &&
        v.integer() <= 1 << 30)
      return v.integer();
    view.fail("linear_attn_config",
              fmt::format("linear_attn_config needs {}, a whole number from 1 up to 2^30", field));
    return std::int64_t{1};
  };
  LayerGroup group;
  group.name = "kda", group.attention = AttentionKind::recurrent;
  RecurrentState& s = group.recurrent.emplace();
  s.kind = RecurrentKind::kda;
  s.key_heads = s.value_heads = number("num_heads"), s.key_dim = s.value_dim = number("head_dim");
  s.conv_kernel = number("short_conv_kernel_size"), s.conv_channels = 3 * s.key_heads * s.key_dim;
  s.state_dtype = state_dtype(view, "mamba_ssm_dtype", DType::float32), s.conv_dtype = model.dtype;
  model.layer_groups.insert(model.layer_groups.begin(), group);
  // full_attn_layers counts layers from 1.
  std::vector<bool> full(static_cast<std::size_t>(model.num_layers), false);
  const config::Value list = linear.find("full_attn_layers");
  if (!list.exists() || !list.is_array())
    return view.fail("linear_attn_config",
                     "linear_attn_config needs full_attn_layers, a list of layers counted from 1");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const config::Value v = list.at(i);
    if (v.kind() != config::Kind::integer || v.integer() < 1 || v.integer() > model.num_layers)
      return view.fail("linear_attn_config", fmt::format("full_attn_layers: {} is no layer of {}",
                                                         v.describe(), model.num_layers));
    full[static_cast<std::size_t>(v.integer() - 1)] = true;
  }
  model.layer_pattern.clear();
  for (const bool mla : full) model.layer_pattern.push_back(mla ? "mla" : "kda");
  if (view.has("n_routed_experts") || !view.has("num_experts")) return;
  MoE moe;
  moe.num_experts = view.need("num_experts"),
  moe.num_experts_per_tok = view.need_any({"num_experts_per_token", "num_experts_per_tok"});
  moe.moe_intermediate_size = view.need("moe_intermediate_size"),
  moe.num_shared_experts = view.get("num_shared_experts", 0);
  moe.first_dense_layers = view.get("first_k_dense_replace", 0),
  moe.layer_step = view.get("moe_layer_freq", 1, 1);
  moe.expert_input_size = view.get("routed_expert_hidden_size", 0);
  model.moe = moe;
}

void import_nemotron_h(View& view, ModelSpec& model) {
  model.gated_mlp = false;
  LayerGroup mamba;
  mamba.name = "mamba", mamba.attention = AttentionKind::recurrent, mamba.has_mlp = false;
  RecurrentState& s = mamba.recurrent.emplace();
  s.kind = RecurrentKind::mamba2;
  s.key_heads = view.need("n_groups"), s.key_dim = view.need("ssm_state_size");
  s.value_heads = view.need("mamba_num_heads"), s.value_dim = view.need("mamba_head_dim");
  s.conv_kernel = view.need("conv_kernel");
  s.conv_channels = s.value_heads * s.value_dim + 2 * s.key_heads * s.key_dim;
  s.state_dtype = state_dtype(view, "mamba_ssm_cache_dtype", model.dtype),
  s.conv_dtype = model.dtype;
  LayerGroup attention;
  attention.name = "attention", attention.has_mlp = false;
  attention.num_heads = view.need("num_attention_heads"),
  attention.num_kv_heads = view.need("num_key_value_heads");
  attention.head_dim = view.need_any({"head_dim", "attention_head_dim"});
  LayerGroup mlp;
  mlp.attention = AttentionKind::none;

  const std::string pattern = view.word("hybrid_override_pattern", "");
  if (pattern.empty()) return view.missing("hybrid_override_pattern");
  if (static_cast<std::int64_t>(pattern.size()) != model.num_layers)
    return view.fail("hybrid_override_pattern",
                     fmt::format("hybrid_override_pattern has {} letters for {} layers",
                                 pattern.size(), model.num_layers));
  const auto has = [&](char c) { return pattern.find(c) != std::string::npos; };
  if (has('M')) model.layer_groups.push_back(mamba);
  if (has('*')) model.layer_groups.push_back(attention);
  if (has('-') && has('E'))
    view.fail("hybrid_override_pattern",
              "hybrid_override_pattern: dense (-) and expert (E) layers in one model cannot be "
              "described");
  if (has('-'))
    mlp.name = "mlp", model.layer_groups.push_back(mlp),
    model.intermediate_size = view.need("intermediate_size");
  if (has('E')) mlp.name = "moe", model.layer_groups.push_back(mlp);
  for (const char c : pattern) {
    if (c != 'M' && c != '*' && c != '-' && c != 'E')
      view.fail("hybrid_override_pattern",
                fmt::format("hybrid_override_pattern: expected M, *, - or E, found \"{}\"", c));
    model.layer_pattern.push_back(c == 'M'   ? "mamba"
                                  : c == '*' ? "attention"
                                  : c == '-' ? "mlp"
                                             : "moe");
  }
  model.num_mtp_layers = view.get("num_nextn_predict_layers", 0);
  if (!has('E')) return;
  MoE moe;
  moe.num_experts = view.need("n_routed_experts"),
  moe.num_experts_per_tok = view.need("num_experts_per_tok");
  moe.moe_intermediate_size = view.need("moe_intermediate_size"),
  moe.num_shared_experts = view.get("n_shared_experts", 0);
  moe.shared_expert_intermediate_size =
      moe.num_shared_experts * view.get("moe_shared_expert_intermediate_size", 0);
  moe.expert_input_size = view.get("moe_latent_size", 0);
  model.moe = moe;
}

void import_jamba(View& view, ModelSpec& model) {
  model.intermediate_size = view.need("intermediate_size");
  LayerGroup mamba;
  mamba.name = "mamba", mamba.attention = AttentionKind::recurrent;
  RecurrentState& s = mamba.recurrent.emplace();
  s.kind = RecurrentKind::mamba1;
  s.value_heads = view.need("mamba_expand") * model.hidden_size, s.value_dim = 1;
  s.key_heads = 1, s.key_dim = view.need("mamba_d_state");
  s.conv_kernel = view.need("mamba_d_conv"), s.conv_channels = s.value_heads;
  s.state_dtype = state_dtype(view, "mamba_ssm_dtype", model.dtype), s.conv_dtype = model.dtype;
  model.layer_groups = {mamba,
                        attention_group_hidden_over_heads(view, "attention", AttentionKind::full)};
  const std::int64_t period = view.need("attn_layer_period"),
                     offset = view.get("attn_layer_offset", 0);
  for (std::int64_t i = 0; i < model.num_layers; ++i)
    model.layer_pattern.push_back(i % period == offset ? "attention" : "mamba");
  if (view.get("num_experts", 1, 1) == 1) return;
  MoE moe;
  moe.num_experts = view.need("num_experts"),
  moe.num_experts_per_tok = view.need("num_experts_per_tok");
  moe.moe_intermediate_size = model.intermediate_size;
  moe.layer_step = view.need("expert_layer_period");
  if (view.get("expert_layer_offset", 0) != moe.layer_step - 1)
    view.fail("expert_layer_offset",
              "expert_layer_offset: only expert_layer_period - 1 can be described");
  model.moe = moe;
}

}  // namespace kvsim::spec::hf
