#include "kv/groups/state_chunk.h"

#include <algorithm>
#include <array>

namespace kvsim::kv {

std::int64_t StateChunks::cut(const Chunk& c) const {
  if (c.tokens <= 0 || c.computed >= std::max(c.prompt, c.known - 1)) return c.tokens;
  std::int64_t end = c.computed + c.tokens;
  if (end < c.known) {
    const std::int64_t boundary = end / block_tokens * block_tokens;
    if (boundary > c.computed)
      end = boundary;
    else if (block_tokens <= largest_chunk)
      return 0;
  }
  const std::int64_t full = c.known / block_tokens * block_tokens;
  const std::int64_t last =
      drops_last_block ? std::max<std::int64_t>(full - block_tokens, 0) : full;
  // Only a point inside the prompt is its tail: one among the outputs is no one's prefix.
  const std::int64_t unit = c.known / match_unit * match_unit;
  const std::int64_t tail = match_unit < block_tokens && unit < c.prompt ? unit : 0;
  const std::int64_t inside = c.computed % block_tokens;
  const std::int64_t block_end = inside > 0 ? c.computed - inside + block_tokens : 0;
  for (const std::int64_t stop : std::array{last, c.shared_prefix, tail, block_end})
    if (c.computed < stop && stop < end) end = stop;
  return end - c.computed;
}

}  // namespace kvsim::kv
