#include "kv/block_pool.h"

#include <bit>

#include "diag/check.h"

namespace kvsim::kv {

BlockPool::BlockPool(std::int64_t num_blocks, Tails tails, FreedBlocks freed)
    : blocks_(static_cast<std::size_t>(tails == Tails::kept ? 2 * num_blocks : num_blocks) + 2),
      head_(static_cast<BlockId>(num_blocks)),
      tail_(static_cast<BlockId>(num_blocks + 1)),
      tails_(tails == Tails::kept),
      freed_(freed) {
  KVSIM_CHECK(num_blocks >= 1, "a pool of {} blocks has no null block", num_blocks);
  const std::size_t buckets = std::bit_ceil(static_cast<std::size_t>(num_blocks));
  index_.assign(buckets, no_block);
  mask_ = buckets - 1;
  at(head_).next = tail_;
  at(tail_).previous = head_;
  for (BlockId block = 1; block < static_cast<BlockId>(num_blocks); ++block)
    link(at(tail_).previous, block);
}

void BlockPool::link(BlockId before, BlockId block) {
  const BlockId after = at(before).next;
  at(block).previous = before;
  at(block).next = after;
  at(before).next = block;
  at(after).previous = block;
  ++free_;
}

void BlockPool::unlink(BlockId block) {
  Block& b = at(block);
  at(b.previous).next = b.next;
  at(b.next).previous = b.previous;
  b.previous = b.next = no_block;
  --free_;
}

BlockId BlockPool::allocate() {
  const BlockId block = at(head_).next;
  KVSIM_CHECK(block != tail_, "allocation from an empty free queue");
  unlink(block);
  if (cached(block)) {
    if (at(block).hash != 0) evict(block);
    if (tail_hash(block) != 0) evict(tail_of(block));
    ++evictions_;
  }
  at(block).references = 1;
  return block;
}

void BlockPool::touch(BlockId block) {
  if (at(block).references++ == 0) unlink(block);
}

void BlockPool::release(std::span<const BlockId> blocks) {
  BlockId front = head_;  // behind it the next block without a hash goes
  for (const BlockId block : blocks) {
    Block& b = at(block);
    KVSIM_CHECK(b.references > 0, "block {} is released but nobody holds it", block);
    if (--b.references > 0) continue;
    if (freed_ == FreedBlocks::all_last || cached(block)) {
      link(at(tail_).previous, block);
    } else {
      link(front, block);
      front = block;
    }
  }
}

BlockId BlockPool::find_carrier(BlockHash hash) const {
  BlockId block = index_[bucket(hash)];
  while (block != no_block && at(block).hash != hash) block = at(block).chain;
  return block;
}

BlockId& BlockPool::oldest(BlockHash hash) {
  BlockId* slot = &index_[bucket(hash)];
  while (*slot != no_block && at(*slot).hash != hash) {
    slot = &at(*slot).chain;
    ++index_steps_;
  }
  return *slot;
}

void BlockPool::publish(BlockId block, BlockHash hash) {
  KVSIM_CHECK(hash != 0 && at(block).hash == 0, "block {} is published twice", block);
  insert(block, hash);
}

void BlockPool::publish_tail(BlockId block, BlockHash hash) {
  KVSIM_CHECK(tails_ && hash != 0 && tail_hash(block) == 0,
              "the tail of block {} is published twice", block);
  insert(tail_of(block), hash);
}

void BlockPool::insert(BlockId carrier, BlockHash hash) {
  Block& b = at(carrier);
  b.hash = hash;
  BlockId& slot = oldest(hash);
  if (slot == no_block) {
    slot = carrier;
    b.older = carrier;
    return;
  }
  BlockId& newest = at(slot).older;
  at(newest).newer = carrier;
  b.older = newest;
  newest = carrier;
}

void BlockPool::evict(BlockId carrier) {
  Block& b = at(carrier);
  BlockId& first = oldest(b.hash);
  if (first != carrier) {
    at(b.older).newer = b.newer;
    at(b.newer != no_block ? b.newer : first).older = b.older;
  } else if (b.newer != no_block) {
    // The next oldest takes its place in the bucket and knows the newest.
    at(b.newer).chain = b.chain;
    at(b.newer).older = b.older;
    first = b.newer;
  } else {
    first = b.chain;
  }
  b.hash = 0;
  b.chain = b.newer = b.older = no_block;
}

std::vector<BlockId> BlockPool::queue() const {
  std::vector<BlockId> order;
  for (BlockId block = at(head_).next; block != tail_; block = at(block).next)
    order.push_back(block);
  return order;
}

std::int64_t BlockPool::indexed() const {
  std::int64_t count = 0;
  for (const BlockId first : index_) {
    for (BlockId block = first; block != no_block; block = at(block).chain) {
      count += carriers(block);
      KVSIM_CHECK(count <= 2 * usable(), "{} blocks in the index of {} usable", count, usable());
    }
  }
  return count;
}

std::int64_t BlockPool::carriers(BlockId oldest) const {
  KVSIM_CHECK(at(oldest).hash != 0 && find_carrier(at(oldest).hash) == oldest,
              "the index does not find block {}", oldest);
  std::int64_t count = 1;
  BlockId last = oldest;
  for (BlockId block = at(last).newer; block != no_block; block = at(last).newer, ++count) {
    KVSIM_CHECK(at(block).hash == at(oldest).hash && at(block).older == last &&
                    at(block).chain == no_block && count < 2 * usable(),
                "the duplicates of block {} are broken at block {}", oldest, block);
    last = block;
  }
  KVSIM_CHECK(at(oldest).older == last, "block {} takes {} for its newest duplicate, not {}",
              oldest, at(oldest).older, last);
  return count;
}

void BlockPool::verify() const {
  std::int64_t seen = 0;
  for (BlockId block = at(head_).next; block != tail_; block = at(block).next, ++seen) {
    KVSIM_CHECK(at(block).references == 0, "block {} is free and held", block);
    KVSIM_CHECK(at(at(block).next).previous == block, "the free queue is broken at block {}",
                block);
  }
  KVSIM_CHECK(seen == free_, "{} blocks in the free queue, {} counted", seen, free_);
  std::int64_t held = 0, hashed = 0;
  for (BlockId block = 1; block < head_; ++block) {
    KVSIM_CHECK(at(block).references >= 0, "block {} has {} references", block,
                at(block).references);
    held += at(block).references > 0;
    hashed += (at(block).hash != 0) + (tail_hash(block) != 0);
  }
  const std::int64_t found = indexed();
  KVSIM_CHECK(hashed == found, "{} blocks carry a hash, {} are in the index", hashed, found);
  KVSIM_CHECK(held + free_ == usable(), "{} held + {} free of {} usable blocks", held, free_,
              usable());
}

}  // namespace kvsim::kv
