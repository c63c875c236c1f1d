#include <doctest/doctest.h>

#include <random>

#include "diag/diagnostic.h"
#include "spec/hf_config.h"

// Damaged configurations: each one imports or is refused as bad input, never anything else.
using namespace kvsim;
using namespace kvsim::spec;

namespace {

const std::vector<std::string> configs{
    R"({"model_type": "qwen3_5_moe", "torch_dtype": "bfloat16", "text_config": {"model_type": "qwen3_5_moe_text", "hidden_size": 64, "num_hidden_layers": 4,
      "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
      "linear_conv_kernel_dim": 4, "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 4, "mamba_ssm_dtype": "float32",
      "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "shared_expert_intermediate_size": 16, "vocab_size": 100, "max_position_embeddings": 512}})",
    R"({"model_type": "deepseek_v4", "torch_dtype": "bfloat16", "hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 32,
      "q_lora_rank": 16, "o_lora_rank": 8, "o_groups": 2, "index_n_heads": 2, "index_head_dim": 8, "index_topk": 16, "n_routed_experts": 4, "num_experts_per_tok": 2,
      "n_shared_experts": 1, "moe_intermediate_size": 16, "sliding_window": 128, "compress_ratios": [0, 4, 128], "vocab_size": 100, "max_position_embeddings": 4096,
      "tie_word_embeddings": false, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})",
    R"({"model_type": "nemotron_h", "torch_dtype": "bfloat16", "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
      "hybrid_override_pattern": "M-*E", "mamba_num_heads": 4, "mamba_head_dim": 16, "ssm_state_size": 8, "n_groups": 2, "conv_kernel": 4, "intermediate_size": 128,
      "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "vocab_size": 100, "max_position_embeddings": 512, "tie_word_embeddings": false,
      "quantization_config": {"quant_method": "compressed-tensors", "ignore": ["re:.*self_attn.*"], "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 32}}}}})",
    R"({"model_type": "nemotron-nas", "torch_dtype": "bfloat16", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100, "max_position_embeddings": 512,
      "block_configs": [{"attention": {"n_heads_in_group": 2, "no_op": false}, "ffn": {"ffn_mult": 2.5}}, {"attention": {"no_op": true}, "ffn": {"no_op": false, "ffn_mult": 1}}]})"};

// Replaces one value (a run of letters, digits or a bracket) by something else.
std::string damaged(const std::string& text, std::mt19937_64& random) {
  static const std::vector<std::string> other{
      "0",    "-1",    "1",  "3",  "7.5",    "1e30",   "99999999999999999999", "null",
      "true", "\"x\"", "[]", "{}", "[1, 2]", "[null]", "4611686018427387904",  "1000000000"};
  std::vector<std::size_t> values;
  for (std::size_t i = 0; i + 2 < text.size(); ++i)
    if (text[i] == ':' || text[i] == ',' || text[i] == '[') values.push_back(i + 1);
  const std::size_t begin = values[random() % values.size()];
  std::size_t end = begin;
  while (end < text.size() && text[end] != ',' && text[end] != '}' && text[end] != ']') ++end;
  std::string out = text;
  return out.replace(begin, end - begin, " " + other[random() % other.size()]);
}

}  // namespace

TEST_SUITE("spec/hf_mutation") {
  TEST_CASE("a damaged configuration imports or is refused with a place") {
    std::mt19937_64 random(7);
    int refused = 0, imported = 0;
    for (int i = 0; i < 4000; ++i) {
      std::string text = configs[static_cast<std::size_t>(i) % configs.size()];
      for (std::uint64_t n = random() % 2; n <= 1; ++n) text = damaged(text, random);
      CAPTURE(text);
      try {
        import_hf_config(config::Document::parse(text, "config.json"), nullptr, "damaged");
        ++imported;
      } catch (const InputError& error) {
        ++refused;
        CHECK(error.diagnostics()[0].file == "config.json");
        CHECK_FALSE(error.diagnostics()[0].message.empty());
      }
    }
    CHECK(refused > 1000);
    CHECK(imported > 100);
  }
}
