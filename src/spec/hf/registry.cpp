#include "spec/hf/family.h"

namespace kvsim::spec::hf {
namespace {

constexpr std::string_view heads = "num_attention_heads, num_key_value_heads, intermediate_size";
constexpr std::string_view windows =
    "num_attention_heads, num_key_value_heads, intermediate_size, layer_types, sliding_window";
constexpr std::string_view experts =
    "num_attention_heads, num_key_value_heads, num_experts, num_experts_per_tok, "
    "moe_intermediate_size";
constexpr std::string_view mla =
    "num_attention_heads, kv_lora_rank, qk_rope_head_dim, qk_nope_head_dim, v_head_dim, "
    "n_routed_experts, num_experts_per_tok, moe_intermediate_size";
constexpr std::string_view linear =
    "num_attention_heads, num_key_value_heads, head_dim, layer_types, linear_num_key_heads, "
    "linear_num_value_heads, linear_key_head_dim, linear_value_head_dim, linear_conv_kernel_dim";
using enum TieDefault;

constexpr Family table[] = {
    {"llama", "llama", no, heads, import_llama},
    {"internlm2", "internlm2", no, heads, import_llama},
    {"olmo2", "olmo2", no, heads, import_llama},
    {"granite", "granite", no, heads, import_llama},
    {"glm", "glm", no, heads, import_llama},
    {"glm4", "glm4", no, heads, import_llama},
    {"seed_oss", "seed_oss", no, heads, import_llama},
    {"stablelm", "stablelm", no, heads, import_llama},
    {"cohere2", "cohere2", yes, windows, import_layer_types},
    {"olmo3", "olmo3", no, windows, import_layer_types},
    {"exaone4", "exaone4", no, windows, import_layer_types},
    {"cohere", "cohere", yes, heads, import_llama},
    {"mistral", "mistral", no, heads, import_mistral},
    {"qwen2", "qwen2", no, heads, import_qwen2},
    {"mimo", "mimo", no, heads, import_qwen2},
    {"qwen2_vl", "qwen2_vl", no, heads, import_qwen2},
    {"qwen2_5_vl", "qwen2_5_vl", no, heads, import_qwen2},
    {"qwen2_5_vl_text", "qwen2_5_vl", no, heads, import_qwen2},
    {"qwen3", "qwen3", no, heads, import_qwen3},
    {"qwen3_vl_text", "qwen3_vl", no, heads, import_qwen3},
    {"phi", "phi", no, heads, import_phi},
    {"gpt_neox", "gpt_neox", no, heads, import_phi},
    {"nemotron", "nemotron", no, heads, import_phi},
    {"starcoder2", "starcoder2", yes, heads, import_phi},
    {"phi3", "phi3", no, heads, import_phi3},
    {"opt", "opt", yes, "num_attention_heads, ffn_dim", import_opt},
    {"falcon", "falcon", yes, "num_attention_heads", import_falcon},
    {"mixtral", "mixtral", no, heads, import_mixtral},
    {"qwen2_moe", "qwen2_moe", no, experts, import_qwen2_moe},
    {"qwen3_moe", "qwen3_moe", no, experts, import_qwen3_moe},
    {"qwen3_vl_moe_text", "qwen3_vl_moe", no, experts, import_qwen3_moe},
    {"glm4_moe", "glm4_moe", no, experts, import_glm4_moe},
    {"minimax_m2", "minimax_m2", no, experts, import_minimax_m2},
    {"minimax_m3", "minimax_m3", no, experts, import_minimax_m3},
    {"step3p7", "step3p7", no, experts, import_step3},
    {"gpt_oss", "gpt_oss", no, experts, import_gpt_oss},
    {"llama4_text", "llama4", no, experts, import_llama4},
    {"mimo_v2_flash", "mimo_v2_flash", no, experts, import_mimo_v2},
    {"gemma", "gemma", yes, heads, import_gemma},
    {"gemma2", "gemma2", yes, heads, import_gemma2},
    {"gemma3_text", "gemma3", yes, heads, import_gemma3},
    {"gemma3n_text", "gemma3n", yes, heads, import_gemma3n},
    {"gemma4_text", "gemma4", yes, heads, import_gemma4},
    {"deepseek_v2", "deepseek_v2", no, mla, import_deepseek},
    {"deepseek_v3", "deepseek_v3", no, mla, import_deepseek},
    {"deepseek_v32", "deepseek_v32", no, mla, import_deepseek},
    {"kimi_k2", "kimi_k2", no, mla, import_deepseek},
    {"glm4_moe_lite", "glm4_moe_lite", no, mla, import_deepseek},
    {"glm_moe_dsa", "glm_moe_dsa", no, mla, import_deepseek},
    {"deepseek_v4", "deepseek_v4", no,
     "num_attention_heads, head_dim, compress_ratios, sliding_window", import_deepseek_v4},
    {"deepseek_ref", "deepseek_v4", no,
     "num_attention_heads, head_dim, compress_ratios, sliding_window", import_deepseek_v4},
    {"qwen3_next", "qwen3_next", no, linear, import_qwen3_next},
    {"qwen3_5_text", "qwen3_5", no, linear, import_qwen3_next},
    {"qwen3_5_moe_text", "qwen3_5_moe", no, linear, import_qwen3_next},
    {"kimi_linear", "kimi_linear", no, mla, import_kimi_linear},
    {"nemotron_h", "nemotron_h", no,
     "hybrid_override_pattern, mamba_num_heads, mamba_head_dim, ssm_state_size, n_groups, "
     "conv_kernel",
     import_nemotron_h},
    {"jamba", "jamba", no,
     "attn_layer_period, attn_layer_offset, mamba_d_state, mamba_d_conv, mamba_expand",
     import_jamba},
    {"nemotron-nas", "nemotron-nas", no, "block_configs", import_nemotron_nas},
};

}  // namespace

std::span<const Family> families() { return table; }

const Family* find_family(std::string_view model_type) {
  for (const Family& family : table)
    if (family.model_type == model_type) return &family;
  return nullptr;
}

}  // namespace kvsim::spec::hf
