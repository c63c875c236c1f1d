#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kv/block_pool.h"
#include "kv/groups/group_spec.h"
#include "kv/token_run.h"

namespace kvsim::kv {

// Hash of a prefix in one group: the groups keep different things of equal tokens.
BlockHash group_hash(BlockHash prefix, std::size_t group);

// Longest cached prefix over all KV cache groups, after vLLM V1's kv_cache_coordinator.py (main of
// 2026-08-17).
//
// Groups of one spec are looked up together: a block counts where all of them have it. Each kind
// may shorten the prefix that the others found, until none does:
//
//   full            whole blocks from the start
//   sliding_window  the rightmost run of blocks that covers the window; a shorter one counts when
//                   it reaches the start
//   chunked_local   blocks of the last chunk from its start; those before it count unseen
//   mamba           the rightmost state
//
// With `drops_last_block` full and window groups give up the last block that they matched; a window
// may look one block further for it. With a match unit smaller than a block a prefix may also end
// inside a block, where full and state groups have kept a prompt's tail.
//
// Cost: one index lookup per group and block passed.
class GroupLookup {
 public:
  struct Options {
    std::vector<GroupSpec> groups;
    std::int64_t hash_tokens = 16;  // tokens per hash of the chain; divides every block
    bool tails = false;             // a prefix may end at any multiple of hash_tokens
    bool drops_last_block = false;
  };
  GroupLookup(const BlockPool& pool, const Options& options);

  struct Hit {
    std::int64_t tokens = 0;
    // Whole blocks that full attention had beyond it: the point where the prompt leaves the prompts
    // before it. 0: none.
    std::int64_t shared = 0;
  };
  // At most chain.tokens() - 1, so that at least one token is computed.
  Hit find(TokenChain& chain);
  // Blocks of the last prefix found, the last of them in part where it ends inside it.
  const std::vector<BlockId>& blocks(std::size_t group) const { return hits_[group]; }
  void clear();

 private:
  struct Kind {
    GroupSpec spec;
    std::vector<std::size_t> groups;
  };
  bool find_all(const Kind& kind, TokenChain& chain, std::int64_t tokens);
  void push_found(const Kind& kind);
  void resize(const Kind& kind, std::int64_t blocks);
  std::int64_t aligned(const Kind& kind, std::int64_t blocks) const;
  std::int64_t longest(const Kind& kind, TokenChain& chain, std::int64_t limit);
  std::int64_t full_prefix(const Kind& kind, TokenChain& chain, std::int64_t limit);
  std::int64_t window_prefix(const Kind& kind, TokenChain& chain, std::int64_t limit);
  std::int64_t chunk_prefix(const Kind& kind, TokenChain& chain, std::int64_t limit);
  std::int64_t state_prefix(const Kind& kind, TokenChain& chain, std::int64_t limit);

  const BlockPool& pool_;
  Options options_;
  std::int64_t alignment_;   // a prefix ends at a multiple of it
  std::vector<Kind> kinds_;  // full attention first
  std::vector<std::vector<BlockId>> hits_;
  std::vector<BlockId> found_;  // of the last find_all(), one per group of the kind
};

}  // namespace kvsim::kv
