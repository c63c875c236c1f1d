#include "spec/hf_config.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "diag/diagnostic.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::spec;

namespace {

ModelSpec import_text(const std::string& text) {
  return import_hf_config(config::Document::parse(text, "config.json"), nullptr, "imported");
}

std::string problem(const std::string& text) {
  try {
    import_text(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A small Llama whose fields a test can replace or drop (value "").
std::string llama(const std::string& name = "", const std::string& value = "") {
  std::vector<std::pair<std::string, std::string>> members{
      {"architectures", R"(["LlamaForCausalLM"])"},
      {"model_type", "\"llama\""},
      {"hidden_size", "4096"},
      {"intermediate_size", "14336"},
      {"num_hidden_layers", "32"},
      {"num_attention_heads", "32"},
      {"num_key_value_heads", "8"},
      {"vocab_size", "128256"},
      {"max_position_embeddings", "131072"},
      {"torch_dtype", "\"bfloat16\""},
      {"tie_word_embeddings", "false"}};
  bool found = name.empty();
  for (auto& [key, text] : members)
    if (key == name) text = value, found = true;
  if (!found) members.emplace_back(name, value);
  std::string out = "{";
  for (const auto& [key, text] : members)
    if (!text.empty()) out += fmt::format("{}\n \"{}\": {}", out.size() > 1 ? "," : "", key, text);
  return out + "\n}\n";
}

constexpr const char* qwen3_next =
    R"({"architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "torch_dtype": "bfloat16",
  "hidden_size": 2048, "intermediate_size": 5120, "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
  "full_attention_interval": 4, "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
  "linear_num_key_heads": 16, "linear_num_value_heads": 32, "max_position_embeddings": 262144, "tie_word_embeddings": false, "vocab_size": 151936,
  "num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 512, "shared_expert_intermediate_size": 512, "decoder_sparse_step": 1})";

}  // namespace

TEST_SUITE("spec/hf_config") {
  TEST_CASE("a plain Llama is one group of full attention") {
    const ModelSpec m = import_text(llama());
    REQUIRE(m.layer_groups.size() == 1);
    const LayerGroup& g = m.layer_groups[0];
    CHECK(g.attention == AttentionKind::full);
    CHECK(g.num_heads == 32);
    CHECK(g.num_kv_heads == 8);
    CHECK(g.head_dim == 128);
    CHECK(m.intermediate_size == 14336);
    CHECK(m.num_layers == 32);
    CHECK_FALSE(m.moe);
    CHECK(m.quantization.method == "none");
  }

  TEST_CASE("a given head width wins over hidden size by heads") {
    CHECK(import_text(llama("head_dim", "100")).layer_groups[0].head_dim == 100);
  }

  TEST_CASE("missing fields are named with file and place") {
    const std::string text = problem(llama("num_hidden_layers", ""));
    CHECK(contains(text, "num_hidden_layers"));
    CHECK(contains(text, "config.json:1:1"));
    CHECK(contains(problem(llama("vocab_size", "null")), "vocab_size"));
  }

  TEST_CASE("wrong types and dimensions that cannot be are named with line and pointer") {
    for (const char* wrong :
         {"\"eight\"", "0", "-8", "8.5", "[8]", "true", "9223372036854775808"}) {
      const std::string text = problem(llama("num_key_value_heads", wrong));
      CAPTURE(wrong);
      CHECK(contains(text, "config.json:8:25"));
      CHECK(contains(text, "/num_key_value_heads"));
    }
    CHECK(contains(problem(llama("head_dim", "-128")), "head_dim"));
    CHECK(contains(problem(llama("num_hidden_layers", "0")), "num_hidden_layers"));
    CHECK(contains(problem(llama("num_attention_heads", "30")), "multiple"));
    CHECK(contains(problem(llama("torch_dtype", "\"float7\"")), "torch_dtype"));
  }

  TEST_CASE("an unknown family is refused with the nearest one and the fields it needs") {
    const std::string text = problem(llama("model_type", "\"qwen3_mo\""));
    CHECK(contains(text, "qwen3_mo"));
    CHECK(contains(text, "qwen3_moe"));
    CHECK(contains(text, "moe_intermediate_size"));
    CHECK(contains(problem(llama("model_type", "\"zzzzzzzzzzzz\"")), "layer_groups"));
    CHECK(contains(problem(llama("model_type", "")), "model_type"));
  }

  TEST_CASE("a null sliding window is full attention and a number slides") {
    const std::string mistral =
        R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 8, "vocab_size": 32000, "max_position_embeddings": 32768, "torch_dtype": "bfloat16", "tie_word_embeddings": false, "sliding_window": WINDOW})";
    const auto with = [&](const std::string& window) {
      std::string text = mistral;
      return import_text(text.replace(text.find("WINDOW"), 6, window)).layer_groups[0];
    };
    CHECK(with("null").attention == AttentionKind::full);
    CHECK(with("4096").attention == AttentionKind::sliding_window);
    CHECK(with("4096").window == 4096);
    CHECK(with("32768").attention == AttentionKind::full);
  }

  TEST_CASE("windows that follow no rule of the family must be listed layer by layer") {
    const std::string head =
        R"({"model_type": "olmo3", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 4, "num_attention_heads": 4,
      "num_key_value_heads": 4, "vocab_size": 100, "max_position_embeddings": 8192, "torch_dtype": "bfloat16", "sliding_window": 512)";
    const ModelSpec m = import_text(
        head +
        R"(, "layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]})");
    CHECK(m.layers_in(0) == 3);
    CHECK(m.layer_groups[0].window == 512);
    CHECK(contains(problem(head + "}"), "layer_types"));
    CHECK(contains(problem(head + R"(, "layer_types": ["full_attention"]})"), "4 layers"));
    CHECK(contains(
        problem(
            head +
            R"(, "layer_types": ["full_attention", "full_attention", "full_attention", "odd_attention"]})"),
        "odd_attention"));
  }

  TEST_CASE("a gated delta net hybrid has three recurrent layers for each attention layer") {
    const ModelSpec m = import_text(qwen3_next);
    CHECK(m.layers_in(0) == 6);
    CHECK(m.layers_in(1) == 2);
    CHECK(m.layer_pattern == std::vector<std::string>{"linear", "linear", "linear", "full"});
    const RecurrentState& s = *m.layer_groups[0].recurrent;
    CHECK(s.state_elements == 32 * 128 * 128);
    CHECK(s.conv_channels == 8192);
    CHECK(s.state_dtype == DType::float32);
    CHECK(contains(m.notes, "mamba_ssm_dtype"));
    CHECK(m.moe->shared_size() == 512);
  }

  TEST_CASE("Gemma 3 without layer types takes every sixth layer as global") {
    const std::string text =
        R"({"model_type": "gemma3", "torch_dtype": "bfloat16", "text_config": {"model_type": "gemma3_text", "hidden_size": 5376, "intermediate_size": 21504,
      "num_hidden_layers": 62, "num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128, "sliding_window": 1024, "sliding_window_pattern": 6,
      "max_position_embeddings": 131072, "vocab_size": 262208}})";
    const ModelSpec m = import_text(text);
    CHECK(m.layers_in(0) == 52);
    CHECK(m.layers_in(1) == 10);
    CHECK(m.tie_word_embeddings);
    CHECK(m.layer_group.back() == 0);
  }

  TEST_CASE("weight formats become bits and scales") {
    const auto quantization = [](const std::string& json) {
      return import_text(llama("quantization_config", json)).quantization;
    };
    const Quantization awq = quantization(
        R"({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": true})");
    CHECK(awq.method == "awq");
    CHECK(awq.bits_with_scales() == 4 + 20.0 / 128);
    CHECK(quantization(R"({"quant_method": "gptq", "bits": 8, "group_size": -1})").group_size == 0);
    const Quantization block =
        quantization(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})");
    CHECK(block.method == "fp8_block");
    CHECK(block.bits_with_scales() == 8 + 32.0 / 16384);
    CHECK(quantization(R"({"quant_method": "fp8"})").method == "fp8");
    const Quantization int4 = quantization(
        R"({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "type": "int", "group_size": 32, "symmetric": true}}},
                                              "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*"]})");
    CHECK(int4.bits_with_scales() == 4.5);
    CHECK(int4.experts_only);
    const Quantization nvfp4 = quantization(
        R"({"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16, "kv_cache_scheme": {"num_bits": 8, "type": "float"}})");
    CHECK(nvfp4.bits_with_scales() == 4.5);
    CHECK(nvfp4.kv_cache_dtype == "fp8");
    CHECK(quantization(R"({"quant_method": "mxfp4"})").experts_only);
    CHECK(contains(problem(llama("quantization_config", R"({"quant_method": "gtpq", "bits": 4})")),
                   "gptq"));
    CHECK(contains(
        problem(llama("quantization_config", R"({"quant_method": "awq", "bits": "four"})")),
        "/quantization_config/bits"));
  }

  TEST_CASE("a ModelOpt description beside the configuration states weights and KV cache") {
    const auto quant = config::Document::parse(
        R"({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}})",
        "hf_quant_config.json");
    const ModelSpec m =
        import_hf_config(config::Document::parse(llama(), "config.json"), &quant, "imported");
    CHECK(m.quantization.method == "fp8");
    CHECK(m.quantization.bits == 8);
    CHECK(m.quantization.kv_cache_dtype == "fp8");
  }

  TEST_CASE("Infinity as Python writes it does not stop the import of a file") {
    std::string text = llama("time_step_limit", "[0.0, Infinity]");
    const std::string path = std::string(KVSIM_BINARY_DIR) + "/tests/infinity_config.json";
    config::write_file(path, text);
    CHECK(load_model(path).id == "infinity");
    CHECK(load_model(path).num_layers == 32);
    std::string wrong = text;
    wrong.replace(wrong.find("\"num_hidden_layers\": 32"), 23, "\"num_hidden_layers\": -1");
    config::write_file(path, wrong);
    CHECK_THROWS_AS(load_model(path), InputError);
  }

  TEST_CASE(
      "a sparse-indexed latent model keeps one index key per token and layer beside the latent") {
    const ModelSpec m = import_text(
        R"({"architectures": ["DeepseekV32ForCausalLM"], "model_type": "deepseek_v32", "hidden_size": 1024, "intermediate_size": 2048,
      "moe_intermediate_size": 256, "n_routed_experts": 8, "num_experts_per_tok": 2, "n_shared_experts": 1, "first_k_dense_replace": 1, "moe_layer_freq": 1,
      "num_hidden_layers": 61, "num_attention_heads": 64, "num_key_value_heads": 64, "kv_lora_rank": 512, "q_lora_rank": 512, "qk_rope_head_dim": 64,
      "qk_nope_head_dim": 128, "v_head_dim": 128, "max_position_embeddings": 4096, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "vocab_size": 32000,
      "index_head_dim": 128, "index_n_heads": 64, "index_topk": 2048})");
    const LayerGroup& g = m.layer_groups[0];
    CHECK(g.attention == AttentionKind::mla);
    CHECK(g.kv_lora_rank + g.qk_rope_head_dim == 576);
    CHECK(g.indexer->head_dim == 128);
    CHECK(g.indexer->stores_keys);
    CHECK_FALSE(m.is_moe_layer(0));
    CHECK(m.is_moe_layer(1));
  }
}
