#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kv/tiers/keyed_lists.h"

namespace kvsim::kv {

enum class OffloadPolicy { lru, arc };
inline constexpr std::array<std::string_view, 2> offload_policy_names{"lru", "arc"};

// The blocks of KV that a CPU pool holds behind a GPU: vLLM's native offload (v1/kv_offload/cpu,
// main of 2026-08-17). Decides what is stored and what is evicted for it; moves nothing.
//
// A block is pending while it is stored, then ready; ready blocks are idle or held by loads. Only
// idle blocks are evicted, none of the set that a store is prepared for, and when they are too few
// the whole store is refused and nothing changes.
//
//   lru  a block enters the recency list when its store completes, leaves it while it is loaded and
//        comes back as the most recent one. The victim is the first.
//   arc  new blocks enter T1; a touched ready block goes to the end of T2, a pending one to the end
//        of its list; loads change no order. Evicted keys stay as ghosts in B1 and B2 (at most
//        num_cpu_blocks each); a touched ghost moves the target for |T1| by max(1, other/own). The
//        victim is T1's first idle block while |T1| >= floor(target), else T2's: a store may be
//        refused although T1 has idle blocks.
//
// With store_threshold k >= 2 a key is stored once lookup() has seen it k times; the last
// max_tracker_size keys looked up are counted, and reset() does not forget them.
//
//   lookup, touch, complete_*, prepare_load   O(keys) expected
//   prepare_store                             O(keys + victims + blocks pending or loaded)
//   memory                                    48 bytes a block, with arc thrice that
// Keys within one call are distinct.
class OffloadManager {
 public:
  struct Options {
    std::int64_t num_cpu_blocks = 0;
    OffloadPolicy policy = OffloadPolicy::lru;
    std::int64_t store_threshold = 0;
    std::int64_t max_tracker_size = 64000;
  };
  explicit OffloadManager(const Options& options);

  enum class Presence { miss, hit, pending };
  // Counts as one lookup of the key.
  Presence lookup(BlockHash key);
  // The keys were used; the first becomes the most recent.
  void touch(std::span<const BlockHash> keys);

  struct Store {
    std::vector<BlockHash> keys;     // those to copy: not here yet, and looked up often enough
    std::vector<BlockId> blocks;     // where to, one each
    std::vector<BlockHash> evicted;  // in order
  };
  // Makes room for those of the keys that are to be stored. False: refused, nothing changed.
  bool prepare_store(std::span<const BlockHash> keys, Store& store);
  enum class Copy { done, failed };
  // The blocks become ready, or are dropped. All must be pending.
  void complete_store(std::span<const BlockHash> keys, Copy copy);

  // Holds the blocks, which must be ready, once each; appends their ids.
  void prepare_load(std::span<const BlockHash> keys, std::vector<BlockId>& blocks);
  void complete_load(std::span<const BlockHash> keys);

  // Forgets every block, also those in transfer.
  void reset();

  std::int64_t free() const { return options_.num_cpu_blocks - held_; }
  std::int64_t idle() const { return idle_; }  // ready and not held by a load
  std::int64_t pending() const { return pending_; }
  double target_t1() const { return target_; }  // arc
  // Whether a load of the key may begin or end (to check a record before it is replayed).
  Presence presence(BlockHash key) const;
  std::int64_t loads(BlockHash key) const;

  // The lists, from the next victim on (tests, conformance).
  enum class List { recency, t1, t2, b1, b2 };
  std::vector<BlockHash> keys(List list) const { return keys_.keys(static_cast<int>(list)); }
  // Checks every count against the blocks. Throws InternalError.
  void verify() const;

 private:
  using Entry = KeyedLists::Entry;
  static constexpr std::int32_t is_pending = -1;
  static constexpr std::int32_t is_ghost = -2;
  struct Block {
    std::int32_t loads = is_ghost;  // held by so many, or one of the above
    BlockId id = no_block;
    std::uint32_t call = 0;  // the last prepare_store that named it
  };
  Block& block(Entry entry) { return blocks_[static_cast<std::size_t>(entry)]; }
  const Block& block(Entry entry) const { return blocks_[static_cast<std::size_t>(entry)]; }
  Entry held(BlockHash key) const;  // none for a ghost
  void append(List list, Entry entry) { keys_.append(static_cast<int>(list), entry); }
  std::int64_t length(List list) const { return keys_.length(static_cast<int>(list)); }

  void count_lookup(BlockHash key);
  bool is_wanted(BlockHash key) const;
  void touch_arc(Entry entry);
  bool choose_victims(std::int64_t count);
  bool is_victim(Entry entry) const;
  Entry next_victim(Entry& cursor) const;
  void evict(Entry entry);
  void insert(BlockHash key, Store& store);
  void drop(Entry entry);
  BlockId take_id();

  Options options_;
  KeyedLists keys_{5};
  std::vector<Block> blocks_;         // by entry
  KeyedLists lookups_{1};             // in order of the last lookup
  std::vector<std::int64_t> counts_;  // by entry of lookups_
  std::vector<BlockId> freed_;        // given back; the last is taken first
  std::vector<Entry> victims_;
  BlockId fresh_ = 0;  // ids from here on were never used
  std::uint32_t call_ = 0;
  std::int64_t held_ = 0, idle_ = 0, pending_ = 0;
  double target_ = 0;
};

}  // namespace kvsim::kv
