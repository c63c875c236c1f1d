#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "spec/catalog.h"

// Published configurations against the catalog, which was written from a table of published
// dimensions.
using namespace kvsim;
using namespace kvsim::spec;

namespace {

const std::string folder = std::string(KVSIM_SOURCE_DIR) + "/../shared/data/hf_configs";

// Catalog entries of files whose repository name is no alias.
const std::map<std::string, std::string> other_names{
    {"MiniMaxAI/MiniMax-M2.5", "minimax-m2.5"},
    {"Qwen/Qwen3-30B-A3B-FP8", "qwen3-30b-a3b"},
    {"Qwen/Qwen3-32B-FP8", "qwen3-32b"},
    {"Qwen/Qwen3-32B-FP8-Static-PerTensor", "qwen3-32b"},
    {"nvidia/DeepSeek-V3.1-NVFP4", "deepseek-v3"},
    {"nvidia/DeepSeek-V3.2-NVFP4", "deepseek-v3.2"},
    {"nvidia/DeepSeek-V4-Flash-NVFP4", "deepseek-v4-flash"},
    {"nvidia/GLM-5-NVFP4", "glm-5"},
    {"nvidia/Gemma-4-31B-IT-NVFP4", "gemma-4-31b"},
    {"nvidia/Kimi-K2.5-NVFP4", "kimi-k2.5"},
    {"nvidia/Llama-3.1-70B-Instruct-FP8", "llama-3.1-70b"},
    {"nvidia/MiniMax-M2.5-NVFP4", "minimax-m2.5"},
    {"nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4", "nemotron-3-nano-30b-a3b"},
    {"nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8", "nemotron-3-super-120b-a12b"},
    {"nvidia/Qwen3.5-397B-A17B-NVFP4", "qwen3.5-397b-a17b"},
    {"sgl-project/DeepSeek-V4-Flash-FP8", "deepseek-v4-flash"}};

std::vector<std::string> config_files() {
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& item : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = item.path().filename().string();
    if (name.ends_with("_config.json") && !name.ends_with("hf_quant_config.json"))
      out.push_back(item.path().string());
  }
  std::ranges::sort(out);
  if (out.empty()) MESSAGE("skipped: ../shared/data/hf_configs is not there");
  return out;
}

std::string repository(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  name.erase(name.size() - std::string("_config.json").size());
  return name.replace(name.find("--"), 2, "/");
}

void check_same_layer(const LayerGroup& a, const LayerGroup& b) {
  CHECK(a.attention == b.attention);
  CHECK(a.num_heads == b.num_heads);
  CHECK(a.num_kv_heads == b.num_kv_heads);
  CHECK(a.head_dim == b.head_dim);
  CHECK(a.value_dim() == b.value_dim());
  CHECK(a.window == b.window);
  CHECK(a.shared_kv_tensor == b.shared_kv_tensor);
  CHECK(a.has_mlp == b.has_mlp);
  CHECK(a.output_gate == b.output_gate);
  CHECK(a.q_lora_rank == b.q_lora_rank);
  CHECK(a.kv_lora_rank == b.kv_lora_rank);
  CHECK(a.qk_rope_head_dim == b.qk_rope_head_dim);
  CHECK(a.qk_nope_head_dim == b.qk_nope_head_dim);
  CHECK(a.o_lora_rank == b.o_lora_rank);
  REQUIRE(a.recurrent.has_value() == b.recurrent.has_value());
  if (a.recurrent) {
    CHECK(a.recurrent->kind == b.recurrent->kind);
    CHECK(a.recurrent->state_elements == b.recurrent->state_elements);
    CHECK(a.recurrent->conv_elements() == b.recurrent->conv_elements());
    CHECK(a.recurrent->state_dtype == b.recurrent->state_dtype);
  }
  REQUIRE(a.indexer.has_value() == b.indexer.has_value());
  if (a.indexer) {
    CHECK(a.indexer->heads == b.indexer->heads);
    CHECK(a.indexer->head_dim == b.indexer->head_dim);
    CHECK(a.indexer->top_k == b.indexer->top_k);
    CHECK(a.indexer->stores_keys == b.indexer->stores_keys);
  }
  REQUIRE(a.compression.has_value() == b.compression.has_value());
  if (a.compression) {
    CHECK(a.compression->ratio == b.compression->ratio);
    CHECK(a.compression->entry_dim == b.compression->entry_dim);
    CHECK(a.compression->index_dim == b.compression->index_dim);
    CHECK(a.compression->window == b.compression->window);
    CHECK(a.compression->state_bytes == b.compression->state_bytes);
  }
}

void check_same_model(const ModelSpec& a, const ModelSpec& b) {
  CHECK(a.hidden_size == b.hidden_size);
  CHECK(a.vocab_size == b.vocab_size);
  CHECK(a.tie_word_embeddings == b.tie_word_embeddings);
  CHECK(a.gated_mlp == b.gated_mlp);
  CHECK(a.dtype == b.dtype);
  REQUIRE(a.num_layers == b.num_layers);
  for (std::int64_t i = 0; i < a.num_layers; ++i) {
    check_same_layer(a.group_of(i), b.group_of(i));
    CHECK(a.is_moe_layer(i) == b.is_moe_layer(i));
  }
  REQUIRE(a.moe.has_value() == b.moe.has_value());
  if (a.moe) {
    CHECK(a.moe->num_experts == b.moe->num_experts);
    CHECK(a.moe->num_experts_per_tok == b.moe->num_experts_per_tok);
    CHECK(a.moe->moe_intermediate_size == b.moe->moe_intermediate_size);
    CHECK(a.moe->shared_size() == b.moe->shared_size());
    CHECK(a.moe->expert_input_size == b.moe->expert_input_size);
  } else {
    CHECK(a.intermediate_size == b.intermediate_size);
  }
}

}  // namespace

TEST_SUITE("spec/hf_files") {
  TEST_CASE("every published configuration imports") {
    for (const std::string& path : config_files()) {
      CAPTURE(path);
      CHECK_NOTHROW(load_model(path));
    }
  }

  TEST_CASE("imported dimensions equal the catalog entry of the same model") {
    const Catalog catalog;
    int compared = 0;
    for (const std::string& path : config_files()) {
      const std::string name = repository(path);
      const auto other = other_names.find(name);
      const ModelSpec expected = catalog.model(other == other_names.end() ? name : other->second);
      CAPTURE(name);
      check_same_model(load_model(path), expected);
      ++compared;
    }
    if (std::filesystem::exists(folder)) CHECK(compared == 46);
  }

  TEST_CASE("the ModelOpt file beside a configuration is read") {
    int found = 0;
    for (const std::string& path : config_files()) {
      const std::string quant =
          path.substr(0, path.size() - std::string("config.json").size()) + "hf_quant_config.json";
      if (!std::filesystem::exists(quant)) continue;
      CAPTURE(path);
      const ModelSpec model = load_model(path);
      CHECK(model.quantization.method != "none");
      CHECK(model.quantization.bits <= 8);
      ++found;
    }
    if (std::filesystem::exists(folder)) CHECK(found == 11);
  }
}
