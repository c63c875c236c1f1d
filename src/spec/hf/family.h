#pragma once
#include <span>
#include <string_view>

#include "spec/hf/hf_view.h"

// Which importer reads which model_type.
namespace kvsim::spec::hf {

// Whether the LM head is the embedding when the file does not say: the default of the family's
// class in transformers.
enum class TieDefault { no, yes };

struct Family {
  std::string_view model_type;  // as config.json spells it, of the language part where it is nested
  std::string_view family;      // ModelSpec::family
  TieDefault tie = TieDefault::no;
  std::string_view needs;  // fields it must find besides the common ones
  void (*import)(View&, ModelSpec&);
};

// All families, in the order of registry.cpp.
std::span<const Family> families();
const Family* find_family(std::string_view model_type);

// Parts that several families share.

// The common dimensions, dtype, tying: every family has them.
void import_common(View& view, const Family& family, ModelSpec& model);
// A group of num_attention_heads query heads; head_dim must be given.
LayerGroup attention_group(View& view, std::string name, AttentionKind kind);
// The same for families that define head_dim as hidden_size / num_attention_heads when it is
// absent.
LayerGroup attention_group_hidden_over_heads(View& view, std::string name, AttentionKind kind);
// Groups and pattern from layer_types (full_attention, sliding_attention, ...), one group per word
// present: `make` builds the group of a word, or reports that the family has no such layers.
void groups_from_layer_types(View& view, ModelSpec& model,
                             LayerGroup (*make)(View&, const std::string& word));
// One group for all layers.
void single_group(ModelSpec& model, LayerGroup group);
void no_group_of(View& view, const std::string& word);

// Weights and profile-run image of vision_config, where there is one.
void import_vision(View& view, ModelSpec& model);

void import_quantization(View& view, const config::Document* quant, ModelSpec& model,
                         Diagnostics& diagnostics);

// One importer per family group.
void import_llama(View&, ModelSpec&);
void import_mistral(View&, ModelSpec&);
void import_qwen2(View&, ModelSpec&);
void import_qwen3(View&, ModelSpec&);
void import_layer_types(View&, ModelSpec&);
void import_phi(View&, ModelSpec&);
void import_phi3(View&, ModelSpec&);
void import_opt(View&, ModelSpec&);
void import_falcon(View&, ModelSpec&);
void import_mixtral(View&, ModelSpec&);
void import_qwen2_moe(View&, ModelSpec&);
void import_qwen3_moe(View&, ModelSpec&);
void import_glm4_moe(View&, ModelSpec&);
void import_minimax_m2(View&, ModelSpec&);
void import_minimax_m3(View&, ModelSpec&);
void import_step3(View&, ModelSpec&);
void import_gpt_oss(View&, ModelSpec&);
void import_llama4(View&, ModelSpec&);
void import_mimo_v2(View&, ModelSpec&);
void import_gemma(View&, ModelSpec&);
void import_gemma2(View&, ModelSpec&);
void import_gemma3(View&, ModelSpec&);
void import_gemma3n(View&, ModelSpec&);
void import_gemma4(View&, ModelSpec&);
void import_deepseek(View&, ModelSpec&);
void import_deepseek_v4(View&, ModelSpec&);
void import_qwen3_next(View&, ModelSpec&);
void import_kimi_linear(View&, ModelSpec&);
void import_nemotron_h(View&, ModelSpec&);
void import_jamba(View&, ModelSpec&);
void import_nemotron_nas(View&, ModelSpec&);

}  // namespace kvsim::spec::hf
