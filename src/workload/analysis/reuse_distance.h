#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "workload/analysis/block_keys.h"

namespace kvsim::workload {

// What a cache that evicts the least recently used block would find, for every capacity at once
// (Mattson's stack distances: a block is in a cache of C blocks exactly if fewer than C others were
// used since). Of a request the leading blocks count, up to the first that is missing; then it is
// touched front to back. O(log n) per block, memory in the number of distinct blocks.
class ReuseDistances {
 public:
  struct Found {
    std::int64_t blocks = 0;  // leading blocks that an unlimited cache holds
  };
  // Looks a prompt up as things stand.
  Found look_up(std::span<const BlockKey> prompt);
  // Touches blocks front to back, entering new ones.
  void touch(std::span<const BlockKey> blocks);

  std::int64_t distinct() const { return static_cast<std::int64_t>(live_); }
  // Leading blocks found so far by a cache of so many blocks.
  std::int64_t found(std::int64_t capacity) const;
  std::int64_t found_unlimited() const { return total_found_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint64_t position = 0;  // of its last use, from 1; 0 = the slot is free
  };
  std::size_t slot_of(std::uint64_t key) const;
  void grow_table();
  void renumber();
  void add(std::uint64_t position, std::int64_t change);
  std::int64_t used_since(std::uint64_t position) const;  // blocks with a later last use

  std::vector<Slot> table_ = std::vector<Slot>(1024);
  std::vector<std::int32_t> tree_ = std::vector<std::int32_t>(4096);  // Fenwick, by position
  std::uint64_t now_ = 0;
  std::size_t live_ = 0;
  std::vector<std::int64_t> by_distance_;  // blocks found only by caches larger than this
  std::int64_t total_found_ = 0;
};

}  // namespace kvsim::workload
