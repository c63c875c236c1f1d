#include "spec/model_spec.h"

#include <algorithm>

namespace kvsim::spec {

using config::at_least;
using config::FieldVisitor;

std::int64_t ModelSpec::layers_in(std::size_t group) const {
  return std::ranges::count(layer_group, static_cast<int>(group));
}

bool ModelSpec::is_moe_layer(std::int64_t layer) const {
  if (!moe || !group_of(layer).has_mlp || layer < moe->first_dense_layers) return false;
  return (layer + 1) % moe->layer_step == 0;
}

static void fields(FieldVisitor& v, Indexer& x) {
  v.field({"heads", "index query heads", {}, true}, x.heads, at_least(1));
  v.field({"head_dim", "elements of the index key of a token", {}, true}, x.head_dim, at_least(1));
  v.field({"top_k", "tokens attended after selection", {}, true}, x.top_k, at_least(1));
  v.field({"block", "tokens selected together"}, x.block, at_least(1));
  v.field({"layers", "layers of the group with an indexer of their own; 0 = all"}, x.layers,
          at_least(0));
  v.field({"stores_keys", "an index key per token is kept besides the KV"}, x.stores_keys);
}

static void fields(FieldVisitor& v, Compression& x) {
  v.field({"ratio", "tokens per stored entry", {}, true}, x.ratio, at_least(1));
  v.field({"entry_dim", "elements of an entry, K and V in one", {}, true}, x.entry_dim,
          at_least(1));
  v.field({"index_dim", "elements of the index entry kept per stored entry; 0 = none"}, x.index_dim,
          at_least(0));
  v.field({"window", "latest tokens kept uncompressed besides"}, x.window, at_least(0));
  v.field({"state_bytes", "compressor state per sequence and layer, bytes"}, x.state_bytes,
          at_least(0));
}

static void fields(FieldVisitor& v, RecurrentState& x) {
  v.choice({"kind", "what updates the state", {}, true}, x.kind, recurrent_names);
  v.field({"key_heads", "key heads; Mamba: groups", {}, true}, x.key_heads, at_least(1));
  v.field({"value_heads", "value heads; Mamba: heads (Mamba 1: channels)", {}, true}, x.value_heads,
          at_least(1));
  v.field({"key_dim", "width of a key head; Mamba: state size", {}, true}, x.key_dim, at_least(1));
  v.field({"value_dim", "width of a value head", {}, true}, x.value_dim, at_least(1));
  v.field({"conv_kernel", "width of the causal convolution; 0 = none"}, x.conv_kernel, at_least(0));
  v.field({"conv_channels", "channels of the convolution"}, x.conv_channels, at_least(0));
  v.field({"state_elements",
           "elements of the state of one layer; 0 = value_heads * key_dim * value_dim"},
          x.state_elements, at_least(0));
  v.choice({"state_dtype", "element type of the state"}, x.state_dtype, dtype_names);
  v.choice({"conv_dtype", "element type of the convolution state"}, x.conv_dtype, dtype_names);
}

static void fields(FieldVisitor& v, MoE& x) {
  v.field({"num_experts", "routed experts per layer", {}, true}, x.num_experts, at_least(1));
  v.field({"num_experts_per_tok", "routed experts that one token visits", {}, true},
          x.num_experts_per_tok, at_least(1));
  v.field({"num_shared_experts", "experts that every token visits"}, x.num_shared_experts,
          at_least(0));
  v.field({"moe_intermediate_size", "width of one expert", {}, true}, x.moe_intermediate_size,
          at_least(1));
  v.field({"shared_expert_intermediate_size",
           "width of the whole shared part; 0 = num_shared_experts * moe_intermediate_size"},
          x.shared_expert_intermediate_size, at_least(0));
  v.field({"expert_input_size", "width the routed experts work on; 0 = hidden_size"},
          x.expert_input_size, at_least(0));
  v.field({"first_dense_layers", "leading layers with a dense MLP"}, x.first_dense_layers,
          at_least(0));
  v.field({"layer_step", "layer i is MoE where i + 1 is a multiple of this"}, x.layer_step,
          at_least(1));
}

static void fields(FieldVisitor& v, Quantization& x) {
  v.field(
      {"method", "none, fp8, fp8_block, awq, gptq, nvfp4, mxfp4, int8, gguf or compressed-tensors"},
      x.method);
  v.field({"bits", "bits per quantized weight, without scales"}, x.bits, config::between(1, 32));
  v.field({"group_size", "weights per scale; 0 = one scale per tensor or channel"}, x.group_size,
          at_least(0));
  v.field({"scale_bits", "bits of scale and zero point per group"}, x.scale_bits,
          config::between(0, 64));
  v.field({"experts_only", "only the routed experts are quantized"}, x.experts_only);
  v.field({"other_bits", "bits of quantized matrices outside the experts; 0 = the model's dtype"},
          x.other_bits, config::between(0, 16));
  v.field({"attention_wide", "attention projections keep the model's dtype"}, x.attention_wide);
  v.field({"kv_cache_dtype", "KV cache dtype that the checkpoint states; \"\" = none"},
          x.kv_cache_dtype);
}

static void fields(FieldVisitor& v, VisionEncoder& x) {
  v.field({"hidden_size", "width of the encoder", {}, true}, x.hidden_size,
          config::between(1, 1 << 20));
  v.field({"intermediate_size", "width of its MLP"}, x.intermediate_size,
          config::between(0, 1 << 22));
  v.field({"num_layers", "layers of the encoder"}, x.num_layers, config::between(0, 10000));
  v.field({"patches_per_image", "of the largest image the processor lets through"},
          x.patches_per_image, config::between(0, 1 << 24));
  v.field({"tokens_per_image", "of that image, as the language model sees it"}, x.tokens_per_image,
          at_least(0));
}

void fields(FieldVisitor& v, LayerGroup& g) {
  v.field({"name", "name used in layer_pattern", {}, true}, g.name);
  v.choice({"attention", "what a layer keeps per token and reads per step", {}, true}, g.attention,
           attention_names);
  v.field({"num_heads", "query heads"}, g.num_heads, at_least(0));
  v.field({"num_kv_heads", "key and value heads"}, g.num_kv_heads, at_least(0));
  v.field({"head_dim", "width of a key head"}, g.head_dim, at_least(0));
  v.field({"v_head_dim", "width of a value head; 0 = head_dim"}, g.v_head_dim, at_least(0));
  v.field({"window", "sliding window or chunk, tokens"}, g.window, at_least(0));
  v.field({"shared_kv_tensor", "K and V are one cached tensor"}, g.shared_kv_tensor);
  v.field({"owns_kv", "false: the layers read the KV of an earlier group"}, g.owns_kv);
  v.field({"has_mlp", "the layers have an MLP"}, g.has_mlp);
  v.field({"intermediate_size", "dense MLP of these layers; 0 = the model's"}, g.intermediate_size,
          at_least(0));
  v.field({"output_gate", "the query projection also makes a gate as wide as the queries"},
          g.output_gate);
  v.field({"q_lora_rank", "rank of the query projection; 0 = direct"}, g.q_lora_rank, at_least(0));
  v.field({"o_lora_rank", "rank of the grouped output projection; 0 = direct"}, g.o_lora_rank,
          at_least(0));
  v.field({"o_groups", "groups of the output projection"}, g.o_groups, at_least(0));
  v.field({"kv_lora_rank", "MLA: elements of the latent"}, g.kv_lora_rank, at_least(0));
  v.field({"qk_rope_head_dim", "MLA: elements of the rotary key shared by all heads"},
          g.qk_rope_head_dim, at_least(0));
  v.field({"qk_nope_head_dim", "MLA: elements of a query head without rotary part"},
          g.qk_nope_head_dim, at_least(0));
  v.object({"indexer", "sparse selection of the tokens attended"}, g.indexer);
  v.object({"compression", "compression of the stored entries along the sequence"}, g.compression);
  v.object({"recurrent", "state of a recurrent layer"}, g.recurrent);
}

void fields(FieldVisitor& v, ModelSpec& m) {
  v.field({"id", "catalog id: lower-case letters, digits, dots and hyphens", {}, true}, m.id);
  v.field({"aliases", "other names, compared without case"}, m.aliases);
  v.field({"family", "Hugging Face model_type"}, m.family);
  v.field({"architecture", "Hugging Face architectures[0]"}, m.architecture);
  v.field({"hidden_size", "width of the residual stream", {}, true}, m.hidden_size, at_least(1));
  v.field({"num_layers", "decoder layers", {}, true}, m.num_layers, config::between(1, 100000));
  v.field({"vocab_size", "rows of the embedding", {}, true}, m.vocab_size, at_least(1));
  v.field({"intermediate_size", "width of the dense MLP; 0 = no dense MLP"}, m.intermediate_size,
          at_least(0));
  v.field({"gated_mlp", "gate and up projections; false: two matrices per MLP"}, m.gated_mlp);
  v.field({"tie_word_embeddings", "the LM head is the embedding"}, m.tie_word_embeddings);
  v.field({"max_position_embeddings", "longest context the model states", {}, true},
          m.max_position_embeddings, at_least(1));
  v.choice({"dtype", "element type of weights that are not quantized"}, m.dtype, dtype_names);
  v.list({"layer_groups", "kinds of layers", {}, true}, m.layer_groups);
  v.field({"layer_pattern", "group of each layer, repeated up to num_layers; empty: the one group"},
          m.layer_pattern);
  v.object({"moe", "mixture of experts"}, m.moe);
  v.object({"quantization", "how the weights are stored"}, m.quantization);
  v.field({"num_mtp_layers", "multi-token prediction layers shipped with the model"},
          m.num_mtp_layers, config::between(0, 1000));
  v.field({"total_params_b", "published parameters in 10^9; 0 = unknown"}, m.total_params_b,
          at_least(0));
  v.field({"active_params_b", "published active parameters in 10^9; 0 = unknown"},
          m.active_params_b, at_least(0));
  v.field({"vision_params", "parameters outside the language model"}, m.vision_params, at_least(0));
  v.object({"vision", "image encoder"}, m.vision);
  v.field({"extra_params", "language-model parameters that these dimensions do not describe"},
          m.extra_params, at_least(0));
  v.field({"sources", "where each figure comes from"}, m.sources);
  v.field({"notes", "what a reader should know"}, m.notes);
}

}  // namespace kvsim::spec
