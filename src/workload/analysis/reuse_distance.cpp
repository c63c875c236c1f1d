#include "workload/analysis/reuse_distance.h"

#include <algorithm>

namespace kvsim::workload {

std::size_t ReuseDistances::slot_of(std::uint64_t key) const {
  std::size_t slot = key & (table_.size() - 1);
  while (table_[slot].position != 0 && table_[slot].key != key)
    slot = (slot + 1) & (table_.size() - 1);
  return slot;
}

void ReuseDistances::grow_table() {
  std::vector<Slot> old(table_.size() * 2);
  old.swap(table_);
  for (const Slot& entry : old)
    if (entry.position != 0) table_[slot_of(entry.key)] = entry;
}

void ReuseDistances::add(std::uint64_t position, std::int64_t change) {
  for (; position < tree_.size(); position += position & (0 - position))
    tree_[position] = static_cast<std::int32_t>(tree_[position] + change);
}

std::int64_t ReuseDistances::used_since(std::uint64_t position) const {
  std::int64_t before = 0;
  for (; position > 0; position -= position & (0 - position)) before += tree_[position];
  return static_cast<std::int64_t>(live_) - before;
}

// Positions are used up once per touch: number the live ones afresh when the tree is full.
void ReuseDistances::renumber() {
  std::vector<Slot*> live;
  live.reserve(live_);
  for (Slot& slot : table_)
    if (slot.position != 0) live.push_back(&slot);
  std::ranges::sort(live, {}, [](const Slot* slot) { return slot->position; });
  if (live.size() * 2 >= tree_.size()) tree_.resize(tree_.size() * 2);
  std::ranges::fill(tree_, 0);
  now_ = 0;
  for (Slot* slot : live) add(slot->position = ++now_, 1);
}

ReuseDistances::Found ReuseDistances::look_up(std::span<const BlockKey> prompt) {
  Found found;
  std::int64_t farthest = 0;
  for (const BlockKey& block : prompt) {
    const Slot& slot = table_[slot_of(block.key)];
    if (slot.position == 0) break;
    farthest = std::max(farthest, used_since(slot.position));
    if (by_distance_.size() <= static_cast<std::size_t>(farthest))
      by_distance_.resize(static_cast<std::size_t>(farthest) + 1);
    ++by_distance_[static_cast<std::size_t>(farthest)];
    ++found.blocks;
  }
  total_found_ += found.blocks;
  return found;
}

void ReuseDistances::touch(std::span<const BlockKey> blocks) {
  for (const BlockKey& block : blocks) {
    if (now_ + 1 >= tree_.size()) renumber();
    Slot* slot = &table_[slot_of(block.key)];
    if (slot->position != 0) {
      add(slot->position, -1);
    } else {
      if (++live_ * 2 > table_.size()) grow_table(), slot = &table_[slot_of(block.key)];
      slot->key = block.key;
    }
    add(slot->position = ++now_, 1);
  }
}

std::int64_t ReuseDistances::found(std::int64_t capacity) const {
  std::int64_t sum = 0;
  const auto stop = std::min<std::size_t>(
      static_cast<std::size_t>(std::max<std::int64_t>(capacity, 0)), by_distance_.size());
  for (std::size_t d = 0; d < stop; ++d) sum += by_distance_[d];
  return sum;
}

}  // namespace kvsim::workload
