#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "kv/block_manager.h"
#include "kv/radix/radix_key.h"
#include "kv/reuse/eviction_queues.h"
#include "kv/reuse/retention_priorities.h"

namespace kvsim::kv {

// A request's tokens, both ways that a lookup reads them: their runs, and the hash of each block
// together with all before it.
struct ReuseKey {
  KeyView tokens;
  TokenChain* chain = nullptr;
};

// The KV blocks of one TensorRT-LLM engine and the tree of those that can be used again
// (kvCacheManager.cpp and evictionPolicy.cpp as restated in docs/explanation/trtllm.md, trees of
// 2026).
//
// The tree has a node per block: full ones, and partly filled ones at the ends of sequences. A
// sequence's context finds the longest path of full blocks, then the child that shares most tokens
// with what follows; that one is copied, or taken over where copying is off and nobody uses it.
// Blocks that nobody holds are free and stay in the tree until their memory is taken: lowest
// retention priority first, then least recently released, and of these only leaves, so that a path
// never breaks. With a host pool a block of enough priority moves there instead of being dropped,
// and comes back when a lookup finds it: along every path the blocks on the GPU come before those
// on the host.
//
// Cost: per block one hash lookup; of the last, partial one O(children that begin with the same
// token); eviction O(1) unless priorities turn a path around. Nothing is done per token.
class ReusePool {
 public:
  struct Options {
    std::int64_t num_blocks = 0;
    std::int64_t host_blocks = 0;
    std::int64_t block_tokens = 32;
    bool reuse = true;
    bool partial_reuse = true;
    bool copy_on_partial_reuse = true;
    int secondary_offload_min_priority = 30;
    RetentionPriorities retention = {};
  };
  explicit ReusePool(const Options& options);

  std::int64_t usable() const { return options_.num_blocks; }
  std::int64_t free() const { return queues_.count(CacheLevel::primary); }
  std::int64_t evictions() const { return evictions_; }    // cached blocks that left both levels
  std::int64_t host_used() const { return host_cached_; }  // cached blocks on the host
  std::int32_t references(BlockId block) const { return at(block).references; }
  std::int64_t blocks_for(std::int64_t tokens) const {
    return (tokens + options_.block_tokens - 1) / options_.block_tokens;
  }

  struct Admission {
    std::int64_t hit = 0;     // tokens that need no computing, at most key.tokens - 1
    std::int64_t loaded = 0;  // of these, copied back from the host
  };
  // Blocks for all tokens of `key`, as many of them reused as there are. Requires
  // blocks_for(key.tokens.tokens) <= free().
  Admission admit(BlockTable& table, const ReuseKey& key);
  // One block more. Requires free() > 0.
  void extend(BlockTable& table, std::int64_t prompt_tokens);

  enum class Tail { full_blocks, with_partial };
  // Enters the first `computed` tokens of `key`, which lie in `table`, into the tree. Content that
  // the tree has already keeps its block.
  void store(BlockTable& table, const ReuseKey& key, std::int64_t computed, Tail tail);
  // Gives all blocks back, last first.
  void release(BlockTable& table);

  // The first full block of `key` that the tree lacks; none if it has all.
  std::optional<BlockHash> first_missing(const ReuseKey& key) const;

  // Levels, links, queues and counts; throws InternalError.
  void verify() const;

 private:
  struct Block {
    std::vector<TokenRun> runs;  // of its own tokens, while in the tree
    BlockHash hash = 0;          // with all before it; 0 for a partly filled one
    std::uint64_t family = 0;    // of its siblings that begin with the same token
    std::int32_t references = 0;
    std::int32_t tokens = 0;
    BlockId parent = no_block, child = no_block;  // first child
    BlockId previous_sibling = no_block, sibling = no_block;
    BlockId next_full = no_block;                          // of the same bucket of hashes
    BlockId previous_kin = no_block, next_kin = no_block;  // of the same bucket of families
    std::int32_t children = 0, primary_children = 0;
    std::int16_t priority = default_priority;
    CacheLevel level = CacheLevel::primary;
    bool in_tree = false;
  };
  struct Match {
    BlockId partial = no_block;
    std::int64_t partial_tokens = 0;
  };
  Block& at(BlockId block) { return blocks_[static_cast<std::size_t>(block)]; }
  const Block& at(BlockId block) const { return blocks_[static_cast<std::size_t>(block)]; }

  Match match(const ReuseKey& key);  // full blocks go to path_
  void match_partial(const ReuseKey& key, std::int64_t from, Match& m) const;
  BlockId find(BlockHash hash) const;
  BlockId& full_bucket(BlockHash hash) { return full_[static_cast<std::size_t>(hash) & mask_]; }
  BlockId& family_bucket(std::uint64_t family) {
    return families_[static_cast<std::size_t>(family) & mask_];
  }
  void index(BlockId block);
  void unindex(BlockId block);
  static std::uint64_t family_of(BlockId parent, std::uint64_t salt, const RunCursor& at);
  void claim(BlockId block, int priority);
  void unclaim(BlockId block);
  void load(BlockId block);
  // Answers the tokens that were reused of m.partial.
  std::int64_t reuse_partial(const Match& m, int priority, BlockTable& table, Admission& out);
  BlockId take(int priority);
  BlockId victim(CacheLevel level) const;
  BlockId make_room(BlockId block);
  void enter(BlockId block, BlockId parent, const ReuseKey& key, std::int64_t from,
             std::int64_t tokens, BlockHash hash);
  void leave(BlockId block);  // with all below it
  void enqueue(BlockId block);
  int priority_of(std::size_t block, std::int64_t prompt_tokens) const {
    return options_.retention.priority_at(static_cast<std::int64_t>(block) * options_.block_tokens,
                                          prompt_tokens);
  }

  Options options_;
  std::vector<Block> blocks_;
  EvictionQueues queues_;
  // Heads of the buckets; the links are in the blocks, the newest of a family first.
  std::vector<BlockId> full_, families_;
  std::size_t mask_ = 0;
  std::vector<BlockId> path_;
  std::int64_t evictions_ = 0;
  std::int64_t host_cached_ = 0;
};

}  // namespace kvsim::kv
