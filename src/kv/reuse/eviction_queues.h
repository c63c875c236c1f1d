#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "kv/block_pool.h"

namespace kvsim::kv {

// Where a block's memory is: on the GPU or on its host.
enum class CacheLevel : std::uint8_t { primary, secondary };

inline constexpr int lowest_priority = 0, highest_priority = 100, default_priority = 35;

// The blocks that nobody holds, by level and retention priority; within a priority from the least
// to the most recently released. After TensorRT-LLM's LRUEvictionPolicy (evictionPolicy.cpp,
// 05a91919). O(1); next_after() walks.
class EvictionQueues {
 public:
  explicit EvictionQueues(std::int64_t num_blocks) : links_(static_cast<std::size_t>(num_blocks)) {}

  void push_back(CacheLevel level, int priority, BlockId block);
  // For a block that is known to hold nothing of use: the first of its priority to go.
  void push_front(CacheLevel level, int priority, BlockId block);
  void remove(BlockId block);
  bool contains(BlockId block) const { return links_[index(block)].priority >= 0; }
  std::int64_t count(CacheLevel level) const { return counts_[static_cast<std::size_t>(level)]; }

  // The block that goes first, and the one that goes after `block`; no_block at the end.
  BlockId first(CacheLevel level) const;
  BlockId next_after(CacheLevel level, BlockId block) const;

 private:
  struct Link {
    BlockId previous = no_block, next = no_block;
    std::int16_t priority = -1;  // -1: in no queue
    CacheLevel level = CacheLevel::primary;
  };
  struct Queue {
    BlockId head = no_block, tail = no_block;
  };
  static std::size_t index(BlockId block) { return static_cast<std::size_t>(block); }
  Queue& queue(CacheLevel level, int priority) {
    return queues_[static_cast<std::size_t>(level)][static_cast<std::size_t>(priority)];
  }
  BlockId head_from(CacheLevel level, int priority) const;
  void enter(CacheLevel level, int priority, BlockId block);

  std::vector<Link> links_;
  std::array<std::array<Queue, highest_priority + 1>, 2> queues_;
  std::array<std::int64_t, 2> counts_{};
};

}  // namespace kvsim::kv
