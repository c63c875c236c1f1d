#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "diag/diagnostic.h"
#include "spec/dtype.h"
#include "units/units.h"

// A language model as kvsim sees it: dimensions, and a list of layer groups that says which layers
// keep which KV. Capacity, step cost, transfer size and eviction all come from this description.
namespace kvsim::spec {

// How a layer attends, which decides what it stores per token and what a step reads.
enum class AttentionKind {
  none,            // no attention and no state: an MLP-only layer (Nemotron-H)
  full,            // MHA, GQA or MQA over the whole context
  sliding_window,  // the last `window` tokens, the current one included
  chunked_local,   // the tokens of the current chunk of `window` tokens (Llama 4)
  mla,             // one latent of kv_lora_rank + qk_rope_head_dim per token, shared by all heads
  recurrent,       // a state of constant size per sequence (Mamba, gated delta nets)
};
inline constexpr std::array<std::string_view, 6> attention_names{
    "none", "full", "sliding_window", "chunked_local", "mla", "recurrent"};

// Sparse selection on top of a group's attention: what a step reads, and the keys it needs for it.
struct Indexer {
  std::int64_t heads = 0;     // index query heads
  std::int64_t head_dim = 0;  // width of the one index key per token
  std::int64_t top_k = 0;     // tokens attended after selection
  std::int64_t block = 1;     // tokens selected together (MiniMax-M3: 128); top_k counts tokens
  std::int64_t layers = 0;    // layers of the group that own an indexer (IndexShare); 0 = all
  bool stores_keys = true;    // false: no index key per token is kept besides the KV
};

// Sequence compression of the stored entries (DeepSeek-V4): one entry per `ratio` tokens.
struct Compression {
  std::int64_t ratio = 1;        // tokens per stored entry
  std::int64_t entry_dim = 0;    // elements of an entry (K and V in one)
  std::int64_t index_dim = 0;    // elements of the indexer's own entry; 0 = none
  std::int64_t window = 0;       // uncompressed tokens kept besides
  std::int64_t state_bytes = 0;  // compressor state per sequence and layer
};

// What updates a recurrent state; decides the projections around it and the flops per token.
enum class RecurrentKind { gated_delta_net, kda, mamba2, mamba1, lightning };
inline constexpr std::array<std::string_view, 5> recurrent_names{"gated_delta_net", "kda", "mamba2",
                                                                 "mamba1", "lightning"};

// Constant-size state of a recurrent layer, in elements per layer of the whole model. Mamba's
// groups are key heads, its state size the key width, its heads the value heads.
struct RecurrentState {
  RecurrentKind kind = RecurrentKind::gated_delta_net;
  std::int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0;
  std::int64_t conv_kernel = 0;    // convolution width; keeps conv_kernel - 1 columns
  std::int64_t conv_channels = 0;  // channels of the convolution
  std::int64_t state_elements =
      0;  // finalize() fills value_heads * key_dim * value_dim unless given
  DType state_dtype = DType::float32;
  DType conv_dtype = DType::bfloat16;
  std::int64_t conv_elements() const {
    return conv_channels * (conv_kernel > 0 ? conv_kernel - 1 : 0);
  }
};

struct LayerGroup {
  std::string name;
  AttentionKind attention = AttentionKind::full;
  std::int64_t num_heads = 0;  // query heads
  std::int64_t num_kv_heads = 0;
  std::int64_t head_dim = 0;      // width of K (and of V unless v_head_dim is given)
  std::int64_t v_head_dim = 0;    // 0 = head_dim
  std::int64_t window = 0;        // sliding window or chunk, tokens
  bool shared_kv_tensor = false;  // K and V are one cached tensor
  bool owns_kv = true;            // false: reads the KV of an earlier group (cross-layer sharing)
  bool has_mlp = true;            // false: attention-only or state-only layers
  std::int64_t intermediate_size = 0;  // dense MLP of these layers; 0 = the model's
  bool output_gate = false;  // the query projection also makes a gate as wide as the queries
  // Low-rank projections: queries (0 = direct) and outputs in o_groups groups (DeepSeek-V4; 0 =
  // direct)
  std::int64_t q_lora_rank = 0, o_lora_rank = 0, o_groups = 0;
  // MLA
  std::int64_t kv_lora_rank = 0, qk_rope_head_dim = 0, qk_nope_head_dim = 0;
  std::optional<Indexer> indexer;
  std::optional<Compression> compression;
  std::optional<RecurrentState> recurrent;

  std::int64_t value_dim() const { return v_head_dim > 0 ? v_head_dim : head_dim; }
};

// Mixture of experts. Of the layers with an MLP, those below first_dense_layers use the dense one;
// after that layer i is MoE where i + 1 is a multiple of layer_step.
struct MoE {
  std::int64_t num_experts = 0, num_experts_per_tok = 0;
  std::int64_t num_shared_experts = 0;
  std::int64_t moe_intermediate_size = 0;
  std::int64_t shared_expert_intermediate_size =
      0;  // whole shared part; 0 = num_shared_experts * moe_intermediate_size
  std::int64_t expert_input_size =
      0;  // width the routed experts work on (latent MoE); 0 = hidden_size
  std::int64_t first_dense_layers = 0;
  std::int64_t layer_step = 1;
  std::int64_t shared_size() const {
    return shared_expert_intermediate_size > 0 ? shared_expert_intermediate_size
                                               : num_shared_experts * moe_intermediate_size;
  }
};

// How the weights are stored. `method` as engines name it; bits and scales decide the bytes.
struct Quantization {
  std::string method =
      "none";        // none fp8 fp8_block awq gptq nvfp4 mxfp4 int8 gguf compressed-tensors
  double bits = 16;  // per quantized weight, without scales
  std::int64_t group_size = 0;  // weights per scale; 0 = per tensor or channel
  double scale_bits = 0;        // bits of scale (and zero point) per group
  bool experts_only =
      false;  // attention and dense layers stay in the model's dtype (MXFP4 gpt-oss)
  // Bits of quantized matrices outside the experts where experts_only (DeepSeek-V4: FP8); 0 = wide.
  double other_bits = 0;
  bool attention_wide = false;  // attention projections stay in the model's dtype
  std::string kv_cache_dtype;   // stated by the checkpoint; "" = not stated
  double bits_with_scales() const {
    return bits + (group_size > 0 ? scale_bits / static_cast<double>(group_size) : 0);
  }
};

// What the profile run of a vision-language model needs of its image encoder.
struct VisionEncoder {
  std::int64_t hidden_size = 0, intermediate_size = 0, num_layers = 0;
  std::int64_t patches_per_image = 0;  // of the largest image that the processor lets through
  std::int64_t tokens_per_image = 0;   // of that image, as the language model sees it
};

struct ModelSpec {
  std::string id;
  std::vector<std::string> aliases;
  std::string family;        // Hugging Face model_type
  std::string architecture;  // Hugging Face architectures[0]
  std::int64_t hidden_size = 0, num_layers = 0, vocab_size = 0;
  std::int64_t intermediate_size = 0;  // dense MLP; 0 = no dense MLP
  bool gated_mlp = true;               // gate and up projections (SwiGLU); false: two matrices
  bool tie_word_embeddings = false;
  std::int64_t max_position_embeddings = 0;
  DType dtype = DType::bfloat16;
  std::vector<LayerGroup> layer_groups;
  std::vector<std::string> layer_pattern;  // group names, repeated up to num_layers
  std::optional<MoE> moe;
  Quantization quantization;
  std::int64_t num_mtp_layers = 0;  // multi-token prediction layers shipped with the model
  double total_params_b = 0, active_params_b = 0;  // published, 10^9; 0 = unknown
  std::int64_t vision_params = 0;  // parameters outside the language model (encoder, projector)
  std::optional<VisionEncoder> vision;
  std::int64_t extra_params =
      0;  // language-model parameters that the dimensions above do not describe
  std::vector<std::string> sources;  // where each figure comes from
  std::string notes;

  // Group index of each layer, derived from layer_pattern by finalize().
  std::vector<int> layer_group;
  std::int64_t layers_in(std::size_t group) const;
  const LayerGroup& group_of(std::int64_t layer) const {
    return layer_groups[static_cast<std::size_t>(layer_group[static_cast<std::size_t>(layer)])];
  }
  bool is_moe_layer(std::int64_t layer) const;
};

inline constexpr std::string_view model_schema = "kvsim.model/1";
void fields(config::FieldVisitor& v, LayerGroup& g);
void fields(config::FieldVisitor& v, ModelSpec& m);

// Checks what single fields cannot (heads divisible, groups named by the pattern, dimensions a kind
// needs) and fills layer_group. Problems go to `diagnostics` under the name `file`.
void finalize(ModelSpec& model, const std::string& file, Diagnostics& diagnostics);

}  // namespace kvsim::spec
