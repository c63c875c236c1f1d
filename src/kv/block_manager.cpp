#include "kv/block_manager.h"

#include <algorithm>

namespace kvsim::kv {

BlockManager::BlockManager(const Options& options)
    : options_(options),
      pool_(options.num_blocks, BlockPool::Tails::none, options.freed_blocks),
      watermark_blocks_(
          static_cast<std::int64_t>(options.watermark * static_cast<double>(options.num_blocks))) {}

std::int64_t BlockManager::lookup(TokenChain& chain) {
  hits_.clear();
  if (!options_.prefix_caching) return 0;
  const std::int64_t limit = (chain.tokens() - 1) / options_.block_tokens;
  for (std::int64_t i = 0; i < limit; ++i) {
    const BlockId block = pool_.find(chain.block_hash(i));
    if (block == no_block) break;
    hits_.push_back(block);
  }
  if (options_.drops_last_block && !hits_.empty()) hits_.pop_back();
  return static_cast<std::int64_t>(hits_.size()) * options_.block_tokens;
}

bool BlockManager::admit(BlockTable& table, TokenChain& chain, std::int64_t hit, std::int64_t n,
                         FullInput gate, Others others) {
  const auto hits = static_cast<std::int64_t>(hits_.size());
  // Hit blocks that nobody holds stand in the free queue and leave it by being hit.
  const std::int64_t evictable =
      std::ranges::count_if(hits_, [&](BlockId b) { return pool_.references(b) == 0; });
  const std::int64_t reserve = others == Others::some_running ? watermark_blocks_ : 0;
  const auto fits = [&](std::int64_t slots) {
    return ceil_blocks(slots) - hits + evictable + reserve <= pool_.free();
  };
  if (gate == FullInput::must_fit && !fits(std::min(chain.tokens(), options_.max_model_len)))
    return false;
  if (!fits(slots(hit + n))) return false;

  for (const BlockId block : hits_) pool_.touch(block);
  table.blocks.assign(hits_.begin(), hits_.end());
  table.published = hits;
  extend(table, hit, n);
  publish(table, chain, std::min(hit + n, chain.tokens()));  // drafts have no content yet
  return true;
}

void BlockManager::free(BlockTable& table) {
  releasing_.assign(table.blocks.rbegin(), table.blocks.rend());
  pool_.release(releasing_);
  table.blocks.clear();
  table.published = 0;
}

}  // namespace kvsim::kv
