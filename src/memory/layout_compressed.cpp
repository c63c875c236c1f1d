#include "memory/layout_compressed.h"

#include <algorithm>
#include <cmath>

namespace kvsim::memory {
namespace {

using spec::AttentionKind;

// Logical block of every group (vLLM's V4 cache; 64 entries at ratio 4, 2 at ratio 128).
constexpr std::int64_t logical_block = 256;

// Tokens whose state the compressor keeps: the block it pools, and the one before where blocks
// overlap (the compressions with an indexer).
std::int64_t state_window(const spec::Compression& c) {
  return c.index_dim > 0 ? 2 * c.ratio : c.ratio;
}

}  // namespace

KvLayout compressed_layout(const spec::ModelSpec& model, const kvformat::Footprint& fp,
                           const Options& o) {
  KvLayout layout;
  layout.one_pool = false;
  const std::int64_t block = std::max(o.block_tokens, logical_block);
  const auto tokens = static_cast<double>(block);
  double growing = 0;
  const auto add = [&](std::string name, AttentionKind kind, const kvformat::GroupFootprint& g,
                       std::int64_t window, double bytes_per_token) {
    if (bytes_per_token <= 0) return;
    KvGroup group{std::move(name), kind, g.group, g.layers, block, window, 0};
    group.block_bytes = static_cast<double>(g.layers) * bytes_per_token * tokens;
    if (window == 0) growing += group.block_bytes;
    layout.groups.push_back(std::move(group));
  };
  for (const kvformat::GroupFootprint& g : fp.groups) {
    layout.group_size += g.layers;
    const spec::LayerGroup* group =
        g.group >= 0 ? &model.layer_groups[static_cast<std::size_t>(g.group)] : nullptr;
    if (!group || !group->compression) {
      add(g.name, g.attention, g, g.window, g.bytes_per_token_layer);
      continue;
    }
    const spec::Compression& c = *group->compression;
    add(g.name, AttentionKind::full, g, 0, g.bytes_per_token_layer);
    if (c.window > 0)
      add(g.name + " window", AttentionKind::sliding_window, g, c.window,
          g.bytes_per_sequence_layer / static_cast<double>(c.window));
    if (c.state_bytes > 0) {
      const std::int64_t kept = state_window(c);
      add(g.name + " compressor", AttentionKind::sliding_window, g, kept,
          static_cast<double>(c.state_bytes) / static_cast<double>(kept));
    }
  }
  layout.block_tokens = block;
  layout.block_bytes = Bytes(static_cast<std::int64_t>(std::ceil(growing)));
  return layout;
}

}  // namespace kvsim::memory
