#pragma once
#include <cstdint>
#include <span>
#include <vector>

// The physical KV blocks of one engine: free queue, reference counts and the prefix index.
// After vLLM V1's block_pool.py (main, 2026-08-17).
namespace kvsim::kv {

using BlockId = std::int32_t;
using BlockHash = std::uint64_t;  // 0 = not hashed
inline constexpr BlockId no_block = -1;

// Where a released block goes in the free queue: those without a hash to its head, or all to its
// tail, as vLLM had it in 2025.
enum class FreedBlocks { unhashed_first, all_last };

// `num_blocks` physical blocks; block 0 is the null block and never handed out.
//
// A block is free when nobody holds it. Free blocks stand in a doubly linked queue: allocation
// takes the head; of the blocks that one release() frees those without a hash go before the head,
// in the order given, and those with a hash to the tail, so that the least recently used cached
// block is taken first (FreedBlocks::all_last: all go to the tail). Taking a hashed block evicts
// its hash. Several blocks may carry one hash (duplicates are not merged); find() gives the one
// published first, and when that is evicted the next oldest.
//
// A block may carry a second hash, that of the tokens up to a point inside it (Tails::kept): a
// prompt's tail, from which a hit can go on when it is copied.
//
// The index holds the oldest block of every hash. Its duplicates hang from it in a doubly linked
// list in the order of publication, and it knows the newest.
//
//   allocate, touch, release, publish, find   O(1) expected, however many blocks carry the hash;
//                                             no allocation after construction
//   verify                                    O(blocks)
//   memory                                    32 bytes a block + 4 to 8 bytes of index; with tails
//                                             twice the former
class BlockPool {
 public:
  enum class Tails { none, kept };
  explicit BlockPool(std::int64_t num_blocks, Tails tails = Tails::none,
                     FreedBlocks freed = FreedBlocks::unhashed_first);

  std::int64_t usable() const { return head_ - 1; }  // without the null block
  std::int64_t free() const { return free_; }
  std::int64_t evictions() const { return evictions_; }
  std::int32_t references(BlockId block) const { return at(block).references; }
  BlockHash hash(BlockId block) const { return at(block).hash; }
  BlockHash tail_hash(BlockId block) const { return tails_ ? at(tail_of(block)).hash : 0; }
  bool cached(BlockId block) const { return hash(block) != 0 || tail_hash(block) != 0; }

  // The head of the free queue, now held once. The caller has checked free() > 0.
  BlockId allocate();
  // Holds a block once more; a free one leaves the queue.
  void touch(BlockId block);
  // Gives blocks up in the order of the span (callers pass a table from its end, so that the end of
  // a prompt is evicted before its start).
  void release(std::span<const BlockId> blocks);

  // The block published first among those that carry `hash`, as their own or as that of a tail, and
  // are still cached; no_block if none.
  BlockId find(BlockHash hash) const {
    const BlockId carrier = find_carrier(hash);
    return carrier > tail_ ? carrier - tail_of(0) : carrier;
  }
  // Gives a held, unhashed block its hash. Requires hash != 0.
  void publish(BlockId block, BlockHash hash);
  // The same for the hash of its tail. Requires Tails::kept.
  void publish_tail(BlockId block, BlockHash hash);

  // The free queue from head to tail (tests, conformance).
  std::vector<BlockId> queue() const;
  // Links of the index that publish() and eviction have followed from one block to the next
  // (tests).
  std::int64_t index_steps() const { return index_steps_; }
  // Checks every invariant: queue length, links, index membership, references >= 0. Throws
  // InternalError.
  void verify() const;

 private:
  struct alignas(32) Block {  // never across two cache lines
    BlockHash hash = 0;
    std::int32_t references = 0;
    BlockId previous = no_block, next = no_block;  // free queue
    BlockId chain = no_block;  // of the oldest block of a hash: the next hash of the same bucket
    BlockId newer = no_block;  // the next duplicate; none after the newest
    BlockId older = no_block;  // the duplicate before; of the oldest block: the newest, itself
                               // where it is alone
  };
  const Block& at(BlockId block) const { return blocks_[static_cast<std::size_t>(block)]; }
  Block& at(BlockId block) { return blocks_[static_cast<std::size_t>(block)]; }
  std::size_t bucket(BlockHash hash) const { return static_cast<std::size_t>(hash) & mask_; }
  // What carries the hash of a block's tail in the index.
  BlockId tail_of(BlockId block) const { return tail_ + 1 + block; }
  BlockId find_carrier(BlockHash hash) const;
  void link(BlockId before, BlockId block);
  void unlink(BlockId block);
  void insert(BlockId carrier, BlockHash hash);
  void evict(BlockId carrier);
  BlockId& oldest(BlockHash hash);  // the link to it; the end of the bucket if there is none
  // Blocks in the index, and those of one hash; both check the links on their way.
  std::int64_t indexed() const;
  std::int64_t carriers(BlockId oldest) const;

  std::vector<Block> blocks_;   // the physical blocks, the two sentinels of the queue, the tails
  std::vector<BlockId> index_;  // bucket -> oldest block of its first hash
  std::size_t mask_ = 0;
  BlockId head_, tail_;  // sentinels
  bool tails_;
  FreedBlocks freed_;
  std::int64_t free_ = 0;
  std::int64_t evictions_ = 0;
  std::int64_t index_steps_ = 0;
};

}  // namespace kvsim::kv
