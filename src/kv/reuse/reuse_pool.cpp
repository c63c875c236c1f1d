#include "kv/reuse/reuse_pool.h"

#include <algorithm>
#include <bit>

#include "diag/check.h"
#include "kv/run_hash.h"

namespace kvsim::kv {

ReusePool::ReusePool(const Options& options)
    : options_(options),
      blocks_(static_cast<std::size_t>(options.num_blocks + options.host_blocks)),
      queues_(options.num_blocks + options.host_blocks) {
  KVSIM_CHECK(options.num_blocks >= 1, "a pool of {} blocks", options.num_blocks);
  const std::size_t buckets = std::bit_ceil(blocks_.size());
  full_.assign(buckets, no_block);
  families_.assign(buckets, no_block);
  mask_ = buckets - 1;
  for (BlockId b = 0; b < static_cast<BlockId>(blocks_.size()); ++b) {
    at(b).level = b < options.num_blocks ? CacheLevel::primary : CacheLevel::secondary;
    queues_.push_back(at(b).level, default_priority, b);
  }
}

BlockId ReusePool::find(BlockHash hash) const {
  BlockId block = full_[static_cast<std::size_t>(hash) & mask_];
  while (block != no_block && at(block).hash != hash) block = at(block).next_full;
  return block;
}

std::uint64_t ReusePool::family_of(BlockId parent, std::uint64_t salt, const RunCursor& at) {
  const TokenRun& run = at.runs[at.run];
  std::uint64_t state = fold(static_cast<std::uint64_t>(static_cast<std::int64_t>(parent)),
                             parent == no_block ? salt : 0);
  state = fold(state + 0x9e3779b97f4a7c15ULL, run.content);
  return finish(fold(state, static_cast<std::uint64_t>(run.offset + at.skip)));
}

ReusePool::Match ReusePool::match(const ReuseKey& key) {
  path_.clear();
  Match m;
  if (!options_.reuse) return m;
  const std::int64_t limit = key.tokens.tokens - 1, size = options_.block_tokens;
  std::int64_t i = 0;
  for (; (i + 1) * size <= limit; ++i) {
    const BlockId block = find(key.chain->block_hash(i));
    if (block == no_block) break;
    path_.push_back(block);
  }
  if (options_.partial_reuse && limit > i * size) match_partial(key, i * size, m);
  return m;
}

void ReusePool::match_partial(const ReuseKey& key, std::int64_t from, Match& m) const {
  RunCursor here{key.tokens.runs};
  here.advance(from);
  const BlockId parent = path_.empty() ? no_block : path_.back();
  const std::uint64_t family = family_of(parent, key.tokens.extra_key, here);
  const std::int64_t most = std::min(key.tokens.tokens - 1 - from, options_.block_tokens);
  BlockId kin = families_[static_cast<std::size_t>(family) & mask_];
  for (; kin != no_block; kin = at(kin).next_kin) {
    const Block& b = at(kin);
    if (b.family != family || b.parent != parent) continue;
    const bool unused = b.references == 0 && b.children == 0 && b.level == CacheLevel::primary;
    if (!options_.copy_on_partial_reuse && !unused) continue;
    const std::int64_t common =
        common_tokens(here, RunCursor{b.runs}, std::min<std::int64_t>(most, b.tokens));
    // Of equally good ones the oldest, which comes last.
    if (common > 0 && common >= m.partial_tokens) m = {kin, common};
  }
}

std::optional<BlockHash> ReusePool::first_missing(const ReuseKey& key) const {
  for (std::int64_t i = 0; (i + 1) * options_.block_tokens <= key.tokens.tokens; ++i) {
    const BlockHash hash = key.chain->block_hash(i);
    if (find(hash) == no_block) return hash;
  }
  return std::nullopt;
}

ReusePool::Admission ReusePool::admit(BlockTable& table, const ReuseKey& key) {
  const std::int64_t tokens = key.tokens.tokens;
  const auto needed = static_cast<std::size_t>(blocks_for(tokens));
  KVSIM_CHECK(static_cast<std::int64_t>(needed) <= free(), "{} blocks for a request and {} free",
              needed, free());
  const Match m = match(key);
  // Everything that was found is held before any memory is taken for the rest.
  for (std::size_t i = 0; i < path_.size(); ++i) claim(path_[i], priority_of(i, tokens));
  if (m.partial != no_block) claim(m.partial, at(m.partial).priority);
  Admission out;
  for (const BlockId block : path_) {
    if (at(block).level == CacheLevel::primary) continue;
    load(block);
    out.loaded += options_.block_tokens;
  }
  table.blocks.assign(path_.begin(), path_.end());
  table.published = static_cast<std::int64_t>(path_.size());
  out.hit = table.published * options_.block_tokens;
  if (m.partial != no_block)
    out.hit += reuse_partial(m, priority_of(table.blocks.size(), tokens), table, out);
  while (table.blocks.size() < needed)
    table.blocks.push_back(take(priority_of(table.blocks.size(), tokens)));
  return out;
}

std::int64_t ReusePool::reuse_partial(const Match& m, int priority, BlockTable& table,
                                      Admission& out) {
  Block& source = at(m.partial);
  const bool on_host = source.level == CacheLevel::secondary;
  // Where it was the last free block there is nowhere to copy to.
  if (!options_.copy_on_partial_reuse || free() == 0) {
    KVSIM_CHECK(source.references == 1 && !on_host, "block {} is not for one request alone",
                m.partial);
    leave(m.partial);
    source.priority = static_cast<std::int16_t>(priority);
    table.blocks.push_back(m.partial);
    return m.partial_tokens;
  }
  table.blocks.push_back(take(priority));
  unclaim(m.partial);
  if (on_host) out.loaded += m.partial_tokens;
  return m.partial_tokens;
}

void ReusePool::extend(BlockTable& table, std::int64_t prompt_tokens) {
  table.blocks.push_back(take(priority_of(table.blocks.size(), prompt_tokens)));
}

void ReusePool::claim(BlockId block, int priority) {
  Block& b = at(block);
  if (b.references++ == 0) queues_.remove(block);
  b.priority = static_cast<std::int16_t>(priority);
}

void ReusePool::enqueue(BlockId block) {
  const Block& b = at(block);
  if (b.in_tree)
    queues_.push_back(b.level, b.priority, block);
  else
    queues_.push_front(b.level, b.priority, block);
}

void ReusePool::unclaim(BlockId block) {
  Block& b = at(block);
  KVSIM_CHECK(b.references > 0, "block {} is released but nobody holds it", block);
  if (--b.references == 0) enqueue(block);
}

void ReusePool::release(BlockTable& table) {
  for (auto block = table.blocks.rbegin(); block != table.blocks.rend(); ++block) unclaim(*block);
  table.blocks.clear();
  table.published = 0;
}

// The next to go: a leaf among the blocks of its level. Where every free block has one in use below
// it, the first of them goes all the same, and what hangs below leaves the tree.
BlockId ReusePool::victim(CacheLevel level) const {
  const BlockId first = queues_.first(level);
  for (BlockId block = first; block != no_block; block = queues_.next_after(level, block)) {
    const Block& b = at(block);
    if ((level == CacheLevel::primary ? b.primary_children : b.children) == 0) return block;
  }
  return first;
}

BlockId ReusePool::take(int priority) {
  const BlockId chosen = victim(CacheLevel::primary);
  KVSIM_CHECK(chosen != no_block, "allocation from an empty pool");
  const BlockId block = make_room(chosen);
  at(block).references = 1;
  at(block).priority = static_cast<std::int16_t>(priority);
  return block;
}

// Frees the memory of `block` on the GPU; answers the block that has it now.
BlockId ReusePool::make_room(BlockId block) {
  Block& b = at(block);
  queues_.remove(block);
  if (!b.in_tree) return block;
  const BlockId host =
      queues_.first(CacheLevel::secondary) == no_block ? no_block : victim(CacheLevel::secondary);
  if (host == no_block || b.primary_children > 0 ||
      b.priority < options_.secondary_offload_min_priority) {
    leave(block);
    return block;
  }
  queues_.remove(host);
  if (at(host).in_tree) leave(host);
  b.level = CacheLevel::secondary;
  at(host).level = CacheLevel::primary;
  if (b.parent != no_block) --at(b.parent).primary_children;
  ++host_cached_;
  enqueue(block);
  return host;
}

// Brings a held block back from the host.
void ReusePool::load(BlockId block) {
  const BlockId room = take(default_priority);
  at(room).references = 0;
  at(room).level = CacheLevel::secondary;
  enqueue(room);
  Block& b = at(block);
  b.level = CacheLevel::primary;
  if (b.parent != no_block) ++at(b.parent).primary_children;
  --host_cached_;
}

}  // namespace kvsim::kv
