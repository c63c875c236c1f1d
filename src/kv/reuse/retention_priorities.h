#pragma once
#include <cstdint>
#include <vector>

#include "kv/reuse/eviction_queues.h"

namespace kvsim::kv {

// How long blocks are worth keeping: a priority for ranges of prompt positions, the first that
// covers a block's first token counts, and one for the blocks of generated tokens. TensorRT-LLM's
// KvCacheRetentionConfig without durations.
struct RetentionPriorities {
  struct Range {
    std::int64_t token_start = 0;
    std::int64_t token_end = -1;  // exclusive; -1: to the end of the prompt
    int priority = default_priority;
  };
  std::vector<Range> ranges;
  int decode_priority = default_priority;

  int priority_at(std::int64_t token, std::int64_t prompt_tokens) const {
    if (token >= prompt_tokens) return decode_priority;
    for (const Range& r : ranges)
      if (token >= r.token_start && (r.token_end < 0 || token < r.token_end)) return r.priority;
    return default_priority;
  }
};

}  // namespace kvsim::kv
