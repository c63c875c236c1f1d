#include "kv/tiers/offload_manager.h"

#include <algorithm>
#include <cmath>

#include "diag/check.h"

namespace kvsim::kv {

OffloadManager::OffloadManager(const Options& options) : options_(options) {}

OffloadManager::Entry OffloadManager::held(BlockHash key) const {
  const Entry entry = keys_.find(key);
  return entry != KeyedLists::none && block(entry).loads != is_ghost ? entry : KeyedLists::none;
}

OffloadManager::Presence OffloadManager::presence(BlockHash key) const {
  const Entry entry = held(key);
  if (entry == KeyedLists::none) return Presence::miss;
  return block(entry).loads == is_pending ? Presence::pending : Presence::hit;
}

std::int64_t OffloadManager::loads(BlockHash key) const {
  const Entry entry = held(key);
  return entry == KeyedLists::none ? 0 : std::max(0, block(entry).loads);
}

OffloadManager::Presence OffloadManager::lookup(BlockHash key) {
  if (options_.store_threshold >= 2) count_lookup(key);
  return presence(key);
}

void OffloadManager::count_lookup(BlockHash key) {
  Entry entry = lookups_.find(key);
  if (entry == KeyedLists::none) {
    if (lookups_.size() >= options_.max_tracker_size) lookups_.remove(lookups_.first(0));
    entry = lookups_.add(key);
    if (static_cast<std::size_t>(entry) >= counts_.size())
      counts_.resize(static_cast<std::size_t>(entry) + 1);
    counts_[static_cast<std::size_t>(entry)] = 0;
  }
  ++counts_[static_cast<std::size_t>(entry)];
  lookups_.append(0, entry);
}

bool OffloadManager::is_wanted(BlockHash key) const {
  if (held(key) != KeyedLists::none) return false;
  if (options_.store_threshold < 2) return true;
  const Entry entry = lookups_.find(key);
  return entry != KeyedLists::none &&
         counts_[static_cast<std::size_t>(entry)] >= options_.store_threshold;
}

void OffloadManager::touch(std::span<const BlockHash> keys) {
  for (std::size_t i = keys.size(); i-- > 0;) {
    const Entry entry = keys_.find(keys[i]);
    if (entry == KeyedLists::none) continue;
    if (options_.policy == OffloadPolicy::arc)
      touch_arc(entry);
    else if (block(entry).loads == 0)
      append(List::recency, entry);
  }
}

void OffloadManager::touch_arc(Entry entry) {
  const auto list = static_cast<List>(keys_.list(entry));
  const auto b1 = static_cast<double>(length(List::b1));
  const auto b2 = static_cast<double>(length(List::b2));
  if (list == List::b1)
    target_ =
        std::min(static_cast<double>(options_.num_cpu_blocks), target_ + std::max(1.0, b2 / b1));
  if (list == List::b2) target_ = std::max(0.0, target_ - std::max(1.0, b1 / b2));
  const bool is_ready = block(entry).loads >= 0;
  append(list == List::t1 && is_ready ? List::t2 : list, entry);
}

bool OffloadManager::prepare_store(std::span<const BlockHash> keys, Store& store) {
  store.keys.clear(), store.blocks.clear(), store.evicted.clear();
  ++call_;
  for (const BlockHash key : keys) {
    if (const Entry entry = held(key); entry != KeyedLists::none) block(entry).call = call_;
    if (is_wanted(key)) store.keys.push_back(key);
  }
  const std::int64_t lacking = static_cast<std::int64_t>(store.keys.size()) - free();
  if (lacking > 0 && !choose_victims(lacking)) {
    store.keys.clear();
    return false;
  }
  if (lacking > 0) {
    for (const Entry entry : victims_) {
      store.evicted.push_back(keys_.key(entry));
      evict(entry);
    }
    for (const List ghosts : {List::b1, List::b2})
      while (length(ghosts) > options_.num_cpu_blocks)
        keys_.remove(keys_.first(static_cast<int>(ghosts)));
  }
  for (const BlockHash key : store.keys) insert(key, store);
  return true;
}

bool OffloadManager::is_victim(Entry entry) const {
  return block(entry).loads == 0 && block(entry).call != call_;
}

// The first block from `cursor` on that may be evicted, and the cursor behind it.
OffloadManager::Entry OffloadManager::next_victim(Entry& cursor) const {
  while (cursor != KeyedLists::none) {
    const Entry entry = cursor;
    cursor = keys_.next(entry);
    if (is_victim(entry)) return entry;
  }
  return KeyedLists::none;
}

// Fills victims_ in order of eviction; false when there are too few.
bool OffloadManager::choose_victims(std::int64_t count) {
  victims_.clear();
  const bool arc = options_.policy == OffloadPolicy::arc;
  Entry first = keys_.first(static_cast<int>(arc ? List::t1 : List::recency));
  Entry second = keys_.first(static_cast<int>(List::t2));
  std::int64_t t1 = length(List::t1);
  const auto target = static_cast<std::int64_t>(std::floor(target_));
  for (std::int64_t i = 0; i < count; ++i) {
    Entry victim = KeyedLists::none;
    if (!arc || t1 >= target) victim = next_victim(first);
    if (victim != KeyedLists::none)
      --t1;
    else if (arc)
      victim = next_victim(second);
    if (victim == KeyedLists::none) return false;
    victims_.push_back(victim);
  }
  return true;
}

void OffloadManager::evict(Entry entry) {
  if (options_.policy == OffloadPolicy::lru) return drop(entry);
  append(static_cast<List>(keys_.list(entry)) == List::t1 ? List::b1 : List::b2, entry);
  freed_.push_back(block(entry).id);
  block(entry) = {};
  --held_, --idle_;
}

// A block never used is taken before one that was given back.
BlockId OffloadManager::take_id() {
  if (fresh_ < options_.num_cpu_blocks) return fresh_++;
  const BlockId id = freed_.back();
  freed_.pop_back();
  return id;
}

void OffloadManager::insert(BlockHash key, Store& store) {
  Entry entry = keys_.find(key);
  if (entry == KeyedLists::none) {
    entry = keys_.add(key);
    if (static_cast<std::size_t>(entry) >= blocks_.size())
      blocks_.resize(static_cast<std::size_t>(entry) + 1);
    block(entry) = {};
  }
  KVSIM_CHECK(block(entry).loads == is_ghost, "a key is stored twice");
  block(entry).loads = is_pending;
  block(entry).id = take_id();
  store.blocks.push_back(block(entry).id);
  ++held_, ++pending_;
  if (options_.policy == OffloadPolicy::arc) append(List::t1, entry);
}

void OffloadManager::drop(Entry entry) {
  Block& b = block(entry);
  --(b.loads == is_pending ? pending_ : idle_);
  --held_;
  freed_.push_back(b.id);
  b = {};
  keys_.remove(entry);
}

void OffloadManager::complete_store(std::span<const BlockHash> keys, Copy copy) {
  for (const BlockHash key : keys) {
    const Entry entry = held(key);
    KVSIM_CHECK(entry != KeyedLists::none && block(entry).loads == is_pending,
                "a store completes that was not begun");
    if (copy == Copy::failed) {
      drop(entry);
      continue;
    }
    block(entry).loads = 0;
    --pending_, ++idle_;
    if (options_.policy == OffloadPolicy::lru) append(List::recency, entry);
  }
}

void OffloadManager::prepare_load(std::span<const BlockHash> keys, std::vector<BlockId>& blocks) {
  for (const BlockHash key : keys) {
    const Entry entry = held(key);
    KVSIM_CHECK(entry != KeyedLists::none && block(entry).loads >= 0,
                "a block is loaded that is not ready");
    if (block(entry).loads++ == 0) --idle_;
    if (options_.policy == OffloadPolicy::lru) keys_.unlink(entry);
    blocks.push_back(block(entry).id);
  }
}

void OffloadManager::complete_load(std::span<const BlockHash> keys) {
  for (const BlockHash key : keys) {
    const Entry entry = held(key);
    KVSIM_CHECK(entry != KeyedLists::none && block(entry).loads > 0,
                "a load completes that was not begun");
    if (--block(entry).loads > 0) continue;
    ++idle_;
    if (options_.policy == OffloadPolicy::lru) append(List::recency, entry);
  }
}

void OffloadManager::reset() {
  keys_.clear();
  blocks_.clear();
  freed_.clear();
  fresh_ = 0;
  held_ = idle_ = pending_ = 0;
  target_ = 0;
}

void OffloadManager::verify() const {
  keys_.verify();
  lookups_.verify();
  std::int64_t idle = 0, pending = 0, loading = 0, ghosts = 0;
  std::vector<bool> used(static_cast<std::size_t>(fresh_), false);
  for (const Block& b : blocks_) {
    if (b.loads == is_ghost) continue;
    ++(b.loads == is_pending ? pending : b.loads == 0 ? idle : loading);
    KVSIM_CHECK(b.id >= 0 && b.id < fresh_ && !used[static_cast<std::size_t>(b.id)],
                "block {} is held twice or was never given out", b.id);
    used[static_cast<std::size_t>(b.id)] = true;
  }
  for (const BlockId id : freed_) {
    KVSIM_CHECK(!used[static_cast<std::size_t>(id)], "block {} is held and free", id);
    used[static_cast<std::size_t>(id)] = true;
  }
  KVSIM_CHECK(std::ranges::find(used, false) == used.end(), "a block is neither held nor free");
  ghosts = length(List::b1) + length(List::b2);
  KVSIM_CHECK(idle == idle_ && pending == pending_ && idle + pending + loading == held_,
              "the counts of blocks disagree with them");
  KVSIM_CHECK(held_ + ghosts == keys_.size(), "keys that are neither held nor ghosts");
  KVSIM_CHECK(held_ <= options_.num_cpu_blocks, "more blocks than the pool has");
  KVSIM_CHECK(options_.policy == OffloadPolicy::arc ? length(List::t1) + length(List::t2) == held_
                                                    : length(List::recency) == idle_ && ghosts == 0,
              "a block is missing in its list");
}

}  // namespace kvsim::kv
