#include "workload/analysis/block_keys.h"

#include <algorithm>

#include "random/stream.h"

namespace kvsim::workload {

void block_keys(const std::vector<Span>& spans, std::uint64_t salt, std::int64_t block_tokens,
                std::vector<BlockKey>& keys) {
  keys.clear();
  std::uint64_t key = random::mix(salt, 0);
  std::int64_t filled = 0;
  for (const Span& span : spans) {
    std::int64_t done = 0;
    while (done < span.length) {
      const std::int64_t piece = std::min(span.length - done, block_tokens - filled);
      key = random::mix(key, span.content);
      key = random::mix(key, static_cast<std::uint64_t>(span.offset + done));
      key = random::mix(key, static_cast<std::uint64_t>(piece));
      done += piece, filled += piece;
      if (filled == block_tokens) keys.push_back({key, filled}), filled = 0;
    }
  }
  if (filled > 0) keys.push_back({key, filled});
}

}  // namespace kvsim::workload
