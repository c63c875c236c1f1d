#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "kv/block_pool.h"

namespace kvsim::kv {

inline constexpr BlockId null_block = 0;

// One request's blocks in every KV cache group, in token order; the null block stands where a block
// was given back or never held.
struct GroupTable {
  struct Group {
    std::vector<BlockId> blocks;
    std::int64_t published = 0;    // leading blocks that have been offered to the index
    std::int64_t skipped = 0;      // leading blocks that were given back
    std::int64_t last_state = -1;  // place of the state that the step before wrote; -1: none
    bool tail = false;             // its state is a published tail: copied before it is written
  };
  std::vector<Group> groups;
  std::int64_t prompt_tokens = 0;
  std::int64_t shared_prefix = 0;  // where it left the prompts before it; 0: nowhere of use
  // Computed tokens from which on something can be published.
  std::int64_t publish_at = std::numeric_limits<std::int64_t>::max();

  bool held() const { return !groups.empty() && !groups.front().blocks.empty(); }
  bool tail() const {
    for (const Group& group : groups)
      if (group.tail) return true;
    return false;
  }
};

}  // namespace kvsim::kv
