#include "kvformat/footprint.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "diag/check.h"

namespace kvsim::kvformat {
namespace {

using spec::AttentionKind;
using spec::LayerGroup;

double payload(std::int64_t elements, double bits) {
  return static_cast<double>(elements) * bits / 8;
}

bool stores_index_keys(const LayerGroup& g) {
  return g.indexer && g.indexer->stores_keys && g.indexer->head_dim > 0;
}

// Bytes of the 512-wide latent and the rope part of one MLA token.
double mla_bytes(const LayerGroup& g, const KvDtype& dtype) {
  // FlashMLA's row: latent in fp8, a float32 scale per 128 of it, rope part in 16 bits. Sparse
  // attention has no other fp8 kernel.
  if (dtype.name == "fp8_ds_mla" || (dtype.is_fp8() && g.indexer))
    return static_cast<double>(g.kv_lora_rank + 4 * ceil_div(g.kv_lora_rank, 128) +
                               2 * g.qk_rope_head_dim);
  return payload(g.kv_lora_rank + g.qk_rope_head_dim, dtype.bits_per_element());
}

constexpr std::int64_t v4_rope_dim = 64;

// One compressed entry (or one token of its window): 16 bits, or V4's packed fp8 row with the rope
// part in 16 bits and 8 bytes of scales.
double compressed_entry_bytes(const LayerGroup& g, const KvDtype& dtype) {
  const std::int64_t dim = g.compression->entry_dim;
  if (!dtype.is_fp8()) return payload(dim, dtype.bits_per_element());
  const std::int64_t rope =
      std::min(g.qk_rope_head_dim > 0 ? g.qk_rope_head_dim : v4_rope_dim, dim);
  return static_cast<double>(dim - rope + 2 * rope + 8);
}

double attention_bytes(const LayerGroup& g, double bits, int tp) {
  const std::int64_t width = g.shared_kv_tensor ? g.head_dim : g.head_dim + g.value_dim();
  return payload(kv_heads_per_rank(g.num_kv_heads, tp) * width, bits);
}

// An indexer key: 16 bits, or one byte per element and a float32 scale beside fp8 KV.
double index_key_bytes(std::int64_t dim, const KvDtype& dtype) {
  return dtype.is_fp8() ? static_cast<double>(dim + 4) : payload(dim, dtype.bits_per_element());
}
// V4 packs its index entries to 4 bits and a float32 scale beside fp8 KV.
double compressed_index_bytes(std::int64_t dim, const KvDtype& dtype) {
  if (dim == 0) return 0;
  return dtype.is_fp8() ? static_cast<double>(dim) / 2 + 4 : payload(dim, dtype.bits_per_element());
}

void fill(GroupFootprint& f, const LayerGroup& g, const KvDtype& dtype, const FootprintOptions& o) {
  const int tp = o.plan.tensor_parallel_size;
  const TokenBytes token = token_bytes(g, dtype, tp);
  if (g.compression) {
    const auto& c = *g.compression;
    f.bytes_per_token_layer =
        ((g.owns_kv ? token.entry : 0) + token.index) / static_cast<double>(c.ratio);
    f.bytes_per_sequence_layer = static_cast<double>(c.window) * token.entry;
    f.extra_per_sequence_layer = static_cast<double>(c.state_bytes);
    return;
  }
  switch (g.attention) {
    case AttentionKind::none:
      return;
    case AttentionKind::recurrent:
      f.bytes_per_sequence_layer =
          static_cast<double>(recurrent_state_bytes(*g.recurrent, tp, o.state_dtype).value());
      return;
    case AttentionKind::mla:
      f.bytes_per_token_layer = token.entry;
      break;
    case AttentionKind::full:
    case AttentionKind::sliding_window:
    case AttentionKind::chunked_local:
      f.bytes_per_token_layer = token.entry;
      if (dtype.residual_tokens > 0) {
        f.wide_tokens = dtype.residual_tokens;
        f.wide_bytes_per_token_layer = attention_bytes(g, 16, tp);
      }
      if (g.attention != AttentionKind::full) f.window = g.window;
      break;
  }
  f.bytes_per_sequence_layer =
      static_cast<double>(std::min(f.wide_tokens, f.window > 0 ? f.window : f.wide_tokens)) *
      (f.wide_bytes_per_token_layer - f.bytes_per_token_layer);
  if (f.wide_tokens == 0) f.bytes_per_sequence_layer = 0;
  if (f.window > 0)
    f.bytes_per_sequence_layer += static_cast<double>(f.window) * f.bytes_per_token_layer;
}

}  // namespace

double GroupFootprint::sequence_bytes(double tokens) const {
  const double n = static_cast<double>(layers);
  if (window == 0 && wide_tokens == 0)
    return tokens * bytes_per_token() + n * bytes_per_sequence_layer;
  const double held = window > 0 ? std::min(tokens, static_cast<double>(window)) : tokens;
  const double wide = std::min(held, static_cast<double>(wide_tokens));
  return n * (wide * wide_bytes_per_token_layer + (held - wide) * bytes_per_token_layer) +
         static_cast<double>(index_layers) * index_bytes_per_token * tokens;
}

Bytes Footprint::sequence_bytes(Tokens tokens) const {
  double total = bytes_per_sequence_extra;
  for (const GroupFootprint& g : groups)
    total += g.sequence_bytes(static_cast<double>(tokens.value()));
  return Bytes(static_cast<std::int64_t>(std::ceil(total)));
}

Footprint footprint(const spec::ModelSpec& model, const KvDtype& dtype, const FootprintOptions& o) {
  KVSIM_CHECK(static_cast<std::int64_t>(model.layer_group.size()) == model.num_layers,
              "model {} is not finalized", model.id);
  const LayerRange range = stage_layers(model.num_layers, o.plan, o.stage);
  Footprint result;
  for (std::size_t i = 0; i < model.layer_groups.size(); ++i) {
    const LayerGroup& g = model.layer_groups[i];
    const auto first = model.layer_group.begin() + range.first,
               last = model.layer_group.begin() + range.last;
    const std::int64_t layers = std::count(first, last, static_cast<int>(i));
    GroupFootprint f;
    f.name = g.name;
    f.attention = g.attention;
    f.group = static_cast<int>(i);
    if (layers == 0 || (!g.owns_kv && !g.compression)) continue;
    f.layers = layers;
    fill(f, g, dtype, o);
    if (stores_index_keys(g) && !g.compression) {
      const std::int64_t all = model.layers_in(i);
      const std::int64_t owners = g.indexer->layers > 0 ? g.indexer->layers : all;
      f.index_layers = std::min(layers, ceil_div(owners * layers, all));
      f.index_bytes_per_token = token_bytes(g, dtype, o.plan.tensor_parallel_size).index;
    }
    if (f.bytes_per_token_layer + f.bytes_per_sequence_layer + f.extra_per_sequence_layer == 0)
      continue;
    if (f.window == 0) result.bytes_per_token += f.bytes_per_token();
    result.bytes_per_sequence += static_cast<double>(layers) * f.bytes_per_sequence_layer;
    result.bytes_per_sequence_extra += static_cast<double>(layers) * f.extra_per_sequence_layer;
    result.groups.push_back(std::move(f));
  }
  return result;
}

TokenBytes token_bytes(const LayerGroup& g, const KvDtype& dtype, int tp) {
  TokenBytes t;
  if (g.compression)
    return {compressed_entry_bytes(g, dtype),
            compressed_index_bytes(g.compression->index_dim, dtype)};
  switch (g.attention) {
    case AttentionKind::none:
    case AttentionKind::recurrent:
      return {};
    case AttentionKind::mla:
      t.entry = mla_bytes(g, dtype);
      break;
    case AttentionKind::full:
    case AttentionKind::sliding_window:
    case AttentionKind::chunked_local:
      t.entry = attention_bytes(g, dtype.bits_per_element(), tp);
      break;
  }
  if (stores_index_keys(g)) t.index = index_key_bytes(g.indexer->head_dim, dtype);
  return t;
}

LayerRange stage_layers(std::int64_t num_layers, int pipeline_parallel_size, int stage) {
  const std::int64_t pp = pipeline_parallel_size;
  const std::int64_t rest = num_layers % pp;
  LayerRange range;
  for (std::int64_t s = 0; s <= stage; ++s) {
    // Stages pp-2, pp-3, ... take one more each.
    const bool extra = s < pp - 1 && s >= pp - 1 - rest;
    range.first = range.last;
    range.last += num_layers / pp + (extra ? 1 : 0);
  }
  return range;
}

LayerRange stage_layers(std::int64_t num_layers, const spec::ParallelPlan& plan, int stage) {
  if (plan.layer_partition.empty())
    return stage_layers(num_layers, plan.pipeline_parallel_size, stage);
  LayerRange range;
  for (std::size_t s = 0; s <= static_cast<std::size_t>(stage); ++s) {
    range.first = range.last;
    range.last += plan.layer_partition[s];
  }
  return range;
}

std::int64_t kv_heads_per_rank(std::int64_t num_kv_heads, int tp) {
  return std::max<std::int64_t>(num_kv_heads / tp, 1);
}

Bytes recurrent_state_bytes(const spec::RecurrentState& s, int tp,
                            std::optional<spec::DType> state_dtype, std::int64_t extra_columns) {
  const std::int64_t columns = s.conv_kernel > 0 ? s.conv_kernel - 1 + extra_columns : 0;
  const std::int64_t state_bits = spec::bits(state_dtype.value_or(s.state_dtype));
  return Bytes(s.state_elements / tp * state_bits / 8 +
               s.conv_channels / tp * columns * spec::bits(s.conv_dtype) / 8);
}

std::string parallel_problem(const spec::ModelSpec& model, const spec::ParallelPlan& plan) {
  const int tp = plan.tensor_parallel_size;
  if (plan.pipeline_parallel_size > model.num_layers)
    return fmt::format("pipeline parallel size {} is more than the {} layers of {}",
                       plan.pipeline_parallel_size, model.num_layers, model.id);
  if (const auto& parts = plan.layer_partition; !parts.empty()) {
    const std::int64_t sum = std::accumulate(parts.begin(), parts.end(), std::int64_t{0});
    if (parts.size() != static_cast<std::size_t>(plan.pipeline_parallel_size) ||
        sum != model.num_layers ||
        std::count_if(parts.begin(), parts.end(), [](auto n) { return n < 1; }) > 0)
      return fmt::format(
          "a layer partition of {} parts that add up to {} does not cut the {} layers of {} into "
          "{} stages",
          parts.size(), sum, model.num_layers, model.id, plan.pipeline_parallel_size);
  }
  for (const LayerGroup& g : model.layer_groups) {
    if (g.num_heads > 0 && g.num_heads % tp != 0)
      return fmt::format("tensor parallel size {} does not divide the {} attention heads of {}", tp,
                         g.num_heads, model.id);
    const std::int64_t kv = g.num_kv_heads;
    const bool shared = g.attention == AttentionKind::mla || g.compression.has_value();
    if (!shared && kv > 0 && kv % tp != 0 && tp % kv != 0)
      return fmt::format(
          "tensor parallel size {} neither divides nor is a multiple of the {} KV heads of {}", tp,
          kv, model.id);
    if (g.recurrent && g.recurrent->value_heads % tp != 0)
      return fmt::format("tensor parallel size {} does not divide the {} state heads of {}", tp,
                         g.recurrent->value_heads, model.id);
  }
  return {};
}

}  // namespace kvsim::kvformat
