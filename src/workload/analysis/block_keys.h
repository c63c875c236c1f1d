#pragma once
#include <cstdint>
#include <vector>

#include "workload/request.h"

namespace kvsim::workload {

// A block of a sequence, named by everything from the start of the sequence to its end: equal keys
// mean equal prefixes. The last block of a sequence may be partial.
struct BlockKey {
  std::uint64_t key = 0;
  std::int64_t tokens = 0;
};

// The blocks of `spans` (canonical form) under a salt. O(blocks + spans).
void block_keys(const std::vector<Span>& spans, std::uint64_t salt, std::int64_t block_tokens,
                std::vector<BlockKey>& keys);

}  // namespace kvsim::workload
