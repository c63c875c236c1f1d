#include "memory/layout.h"

#include <algorithm>
#include <cmath>

#include "memory/layout_compressed.h"

namespace kvsim::memory {
namespace {

using kvformat::GroupFootprint;
using spec::AttentionKind;

// Attention blocks that must cover a recurrent state grow in steps of the kernels' alignment.
constexpr std::int64_t block_alignment = 16;

struct Bucket {
  KvGroup group;           // its layers field counts the whole bucket
  double token_bytes = 0;  // attention: per token and layer
  std::int64_t state_bytes = 0;
};

bool hybrid_manager(const Options& o) { return o.hybrid_kv_cache_manager && !o.kv_connector; }

std::vector<Bucket> make_buckets(const spec::ModelSpec& model, const kvformat::Footprint& fp,
                                 const Options& o) {
  std::vector<Bucket> list;
  for (const GroupFootprint& g : fp.groups) {
    Bucket b;
    b.group = {g.name, g.attention, g.group, g.layers, o.block_tokens, g.window, 0};
    if (g.window > 0 && !hybrid_manager(o))
      b.group.attention = AttentionKind::full, b.group.window = 0;
    if (g.attention == AttentionKind::recurrent) {
      b.state_bytes = static_cast<std::int64_t>(g.bytes_per_sequence_layer);
      // Of the model's own layers: a column per drafted token besides.
      if (g.group >= 0)
        b.state_bytes = kvformat::recurrent_state_bytes(
                            *model.layer_groups[static_cast<std::size_t>(g.group)].recurrent,
                            o.plan.tensor_parallel_size, o.state_dtype, o.speculative_tokens)
                            .value();
    } else {
      // An indexer's keys lie in the page of their layer.
      b.token_bytes = g.bytes_per_token_layer;
      // vLLM's pages hold K and V apart also where a model reads one tensor as both (Gemma-4).
      if (g.group >= 0) {
        const spec::LayerGroup& group = model.layer_groups[static_cast<std::size_t>(g.group)];
        if (group.shared_kv_tensor && !group.compression) b.token_bytes *= 2;
      }
      if (g.index_layers == g.layers) b.token_bytes += g.index_bytes_per_token;
    }
    auto same = std::find_if(list.begin(), list.end(), [&](const Bucket& other) {
      return other.group.attention == b.group.attention && other.group.window == b.group.window &&
             other.token_bytes == b.token_bytes && other.state_bytes == b.state_bytes;
    });
    if (same == list.end())
      list.push_back(b);
    else
      same->group.layers += g.layers;
  }
  return list;
}

std::int64_t whole(double bytes) { return static_cast<std::int64_t>(std::ceil(bytes)); }

// Every layer in one group, charged its own bytes per token.
KvLayout uniform(const std::vector<Bucket>& buckets, double bytes_per_token, const Options& o) {
  KvLayout layout;
  KvGroup g = buckets.front().group;
  g.layers = 0;
  for (const Bucket& b : buckets) g.layers += b.group.layers;
  layout.groups.push_back(g);
  layout.group_size = g.layers;
  layout.block_tokens = o.block_tokens;
  layout.block_bytes = Bytes(whole(bytes_per_token * static_cast<double>(o.block_tokens)));
  return layout;
}

// The rarer kind decides the group size; nearly equal kinds are padded up to the larger one.
std::int64_t choose_group_size(const std::vector<Bucket>& buckets) {
  std::int64_t least = buckets.front().group.layers, most = least;
  for (const Bucket& b : buckets) {
    least = std::min(least, b.group.layers);
    most = std::max(most, b.group.layers);
  }
  return 2 * most < 3 * least ? most : least;
}

// Sets the block sizes of all buckets so that their pages agree; answers the page of one layer.
std::int64_t unify_pages(std::vector<Bucket>& buckets, const Options& o) {
  double widest = 0;
  std::int64_t state = 0;
  for (const Bucket& b : buckets) {
    widest = std::max(widest, b.token_bytes);
    state = std::max(state, b.state_bytes);
  }
  if (widest == 0) return state;
  std::int64_t block = o.block_tokens;
  if (state > 0) {
    // The widest attention layer's block must hold one state; narrower ones get more tokens.
    const auto tokens = static_cast<std::int64_t>(std::ceil(static_cast<double>(state) / widest));
    block = std::max(block, ceil_div(tokens, block_alignment) * block_alignment);
  }
  for (Bucket& b : buckets) {
    b.group.block_tokens = block;
    const double ratio = b.token_bytes > 0 ? widest / b.token_bytes : 1;
    if (ratio == std::floor(ratio)) b.group.block_tokens = block * static_cast<std::int64_t>(ratio);
  }
  return whole(widest * static_cast<double>(block));
}

KvLayout grouped(std::vector<Bucket> buckets, const Options& o) {
  KvLayout layout;
  const std::int64_t page = unify_pages(buckets, o);
  layout.group_size = choose_group_size(buckets);
  layout.block_bytes = Bytes(page * layout.group_size);
  for (const Bucket& b : buckets) {
    const std::int64_t count = ceil_div(b.group.layers, layout.group_size);
    for (std::int64_t i = 0; i < count; ++i) {
      KvGroup g = b.group;
      g.layers = b.group.layers / count + (i < b.group.layers % count ? 1 : 0);
      layout.groups.push_back(g);
      layout.padding_layers += layout.group_size - g.layers;
    }
    const std::int64_t padding = count * layout.group_size - b.group.layers;
    layout.padding_waste = std::max(
        layout.padding_waste, static_cast<double>(padding) / static_cast<double>(b.group.layers));
    if (b.state_bytes > 0)
      layout.state_page_padding =
          static_cast<double>(page) / static_cast<double>(b.state_bytes) - 1;
    if (b.token_bytes > 0)
      layout.block_tokens = layout.block_tokens == 0
                                ? b.group.block_tokens
                                : std::min(layout.block_tokens, b.group.block_tokens);
  }
  if (layout.block_tokens == 0) layout.block_tokens = o.block_tokens;
  return layout;
}

}  // namespace

std::int64_t KvLayout::blocks_of(const KvGroup& g, std::int64_t tokens,
                                 std::int64_t in_flight) const {
  const std::int64_t whole_length = ceil_div(tokens, g.block_tokens);
  switch (g.attention) {
    case AttentionKind::none:
    case AttentionKind::full:
    case AttentionKind::mla:
      return whole_length;
    case AttentionKind::sliding_window:
      return ceil_div(std::min(g.window - 1 + in_flight, tokens), g.block_tokens) + 1;
    case AttentionKind::chunked_local:
      return ceil_div(std::min(g.window + in_flight, tokens), g.block_tokens);
    case AttentionKind::recurrent:
      return state_blocks + (all_states ? whole_length - 1 : 0);
  }
  return 0;
}

std::int64_t KvLayout::blocks(std::int64_t tokens, std::int64_t in_flight) const {
  std::int64_t total = 0;
  for (const KvGroup& g : groups) total += blocks_of(g, tokens, in_flight);
  return total;
}

double KvLayout::bytes(std::int64_t tokens, std::int64_t in_flight) const {
  if (one_pool)
    return static_cast<double>(blocks(tokens, in_flight)) *
           static_cast<double>(block_bytes.value());
  double total = 0;
  for (const KvGroup& g : groups)
    total += static_cast<double>(blocks_of(g, tokens, in_flight)) * g.block_bytes;
  return total;
}

std::int64_t KvLayout::blocks_for(std::int64_t tokens) const {
  return blocks(tokens, in_flight_tokens);
}
double KvLayout::bytes_for(std::int64_t tokens) const { return bytes(tokens, in_flight_tokens); }
std::int64_t KvLayout::held_blocks(std::int64_t tokens) const { return blocks(tokens, 1); }
double KvLayout::held_bytes(std::int64_t tokens) const { return bytes(tokens, 1); }

KvLayout make_layout(const spec::ModelSpec& model, const kvformat::Footprint& fp,
                     const Options& o) {
  KvLayout layout;
  const bool compressed = std::any_of(fp.groups.begin(), fp.groups.end(), [&](const auto& g) {
    return g.group >= 0 &&
           model.layer_groups[static_cast<std::size_t>(g.group)].compression.has_value();
  });
  std::vector<Bucket> buckets = make_buckets(model, fp, o);
  if (buckets.empty()) return layout;
  bool plain = true, equal = true;
  double widest = 0, growing = 0;
  std::int64_t layers = 0;
  for (const Bucket& b : buckets) {
    plain = plain && b.group.window == 0 && b.state_bytes == 0;
    equal = equal && (b.token_bytes == buckets.front().token_bytes || b.state_bytes > 0);
    widest = std::max(widest, b.token_bytes);
    layers += b.group.layers;
    growing += b.token_bytes * static_cast<double>(b.group.layers);
  }
  const bool states = std::any_of(buckets.begin(), buckets.end(),
                                  [](const Bucket& b) { return b.state_bytes > 0; });
  if (compressed) {
    layout = compressed_layout(model, fp, o);
  } else if (plain) {
    // Indexers that not every layer owns are counted by the footprint.
    layout = uniform(buckets, hybrid_manager(o) ? fp.bytes_per_token : growing, o);
  } else if (!states && !equal && !o.rules.pages_unified) {
    // Pages that cannot be unified: every layer is charged the widest page and its full length.
    layout = uniform(buckets, widest * static_cast<double>(layers), o);
    layout.groups.front().attention = AttentionKind::full;
    layout.groups.front().window = 0;
  } else {
    layout = grouped(std::move(buckets), o);
  }
  // Each rank of a context-parallel group keeps every dcp-th token.
  for (KvGroup& g : layout.groups)
    if (g.attention != AttentionKind::recurrent) g.block_tokens *= o.decode_context_parallel_size;
  const std::int64_t batches =
      std::max<std::int64_t>(o.plan.pipeline_parallel_size, o.rules.overlapped_batches ? 2 : 1);
  layout.in_flight_tokens = batches * o.max_num_batched_tokens;
  const StateCacheMode mode = o.state_cache_mode.value_or(
      o.enable_prefix_caching.value_or(false) ? StateCacheMode::align : StateCacheMode::none);
  layout.state_blocks = (mode == StateCacheMode::align ? 2 : 1) + o.speculative_tokens;
  layout.all_states = mode == StateCacheMode::all;
  return layout;
}

}  // namespace kvsim::memory
