#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "kv/block_pool.h"
#include "kv/token_run.h"

namespace kvsim::kv {

// One request's blocks, in token order.
struct BlockTable {
  std::vector<BlockId> blocks;
  std::int64_t published = 0;  // leading blocks that carry a hash
};

// Block manager of one full-attention KV group: vLLM V1's allocate_slots, get_computed_blocks and
// free (kv_cache_manager.py, main of 2026-08-17). Decisions are made on counts; a refused
// allocation changes nothing.
class BlockManager {
 public:
  struct Options {
    std::int64_t num_blocks = 0;  // physical, the null block included
    std::int64_t block_tokens = 16;
    bool prefix_caching = true;
    double watermark = 0;  // share of num_blocks kept free at admission while others run
    std::int64_t max_model_len = 0;
    std::int64_t lookahead_tokens = 0;  // slots ahead of the tokens, for drafts
    bool drops_last_block = false;      // a drafter needs the last matched block computed again
    FreedBlocks freed_blocks = FreedBlocks::unhashed_first;
  };
  explicit BlockManager(const Options& options);

  const BlockPool& pool() const { return pool_; }
  std::int64_t block_tokens() const { return options_.block_tokens; }

  // Tokens of the longest cached prefix, in whole blocks and at most chain.tokens() - 1, so that at
  // least one token is computed (drops_last_block: one block less). Remembers the blocks for
  // admit().
  std::int64_t lookup(TokenChain& chain);

  enum class FullInput { must_fit, may_wait };
  enum class Others { none_running, some_running };
  // Admission after lookup(): holds the hit blocks and allocates for the tokens [hit, hit + n).
  // False: not enough free blocks (with `must_fit`: for the whole input), nothing changed.
  bool admit(BlockTable& table, TokenChain& chain, std::int64_t hit, std::int64_t n, FullInput gate,
             Others others);

  // Slots for tokens up to `computed + n`, and the lookahead, of a running request; false changes
  // nothing.
  bool extend(BlockTable& table, std::int64_t computed, std::int64_t n) {
    const std::int64_t need =
        ceil_blocks(slots(computed + n)) - static_cast<std::int64_t>(table.blocks.size());
    if (need <= 0) return true;
    if (need > pool_.free()) return false;
    for (std::int64_t i = 0; i < need; ++i) table.blocks.push_back(pool_.allocate());
    return true;
  }
  // Gives every block that `computed` tokens fill its hash. Called after the step's tokens have
  // slots, before they are computed: later admissions of the same step already hit them.
  void publish(BlockTable& table, TokenChain& chain, std::int64_t computed) {
    if (!options_.prefix_caching) return;
    for (const std::int64_t full = computed / options_.block_tokens; table.published < full;
         ++table.published) {
      const auto i = static_cast<std::size_t>(table.published);
      if (pool_.hash(table.blocks[i]) == 0)
        pool_.publish(table.blocks[i], chain.block_hash(table.published));
    }
  }
  // Gives all blocks back, last first.
  void free(BlockTable& table);

  // Slots that a request with so many tokens gets.
  std::int64_t slots(std::int64_t tokens) const {
    return std::min(tokens + options_.lookahead_tokens, options_.max_model_len);
  }
  std::int64_t ceil_blocks(std::int64_t tokens) const {
    return (tokens + options_.block_tokens - 1) / options_.block_tokens;
  }

 private:
  Options options_;
  BlockPool pool_;
  std::int64_t watermark_blocks_;
  std::vector<BlockId> hits_;  // of the last lookup
  std::vector<BlockId> releasing_;
};

}  // namespace kvsim::kv
