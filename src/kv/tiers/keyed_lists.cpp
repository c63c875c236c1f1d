#include "kv/tiers/keyed_lists.h"

#include <algorithm>

#include "diag/check.h"

namespace kvsim::kv {
namespace {

constexpr std::size_t first_size = 16;

}  // namespace

KeyedLists::KeyedLists(int lists) : lists_(lists) { clear(); }

void KeyedLists::clear() {
  nodes_.assign(static_cast<std::size_t>(lists_), {});
  for (int list = 0; list < lists_; ++list) at(list) = {0, list, list, none};
  lengths_.assign(static_cast<std::size_t>(lists_), 0);
  index_.assign(std::max(index_.size(), first_size), none);
  mask_ = index_.size() - 1;
  free_.clear();
  used_ = 0;
}

// Keys are hashes already; the multiplication spreads those that are not (tests).
std::size_t KeyedLists::home(BlockHash key) const {
  return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 20) & mask_;
}

std::size_t KeyedLists::place(BlockHash key) const {
  std::size_t i = home(key);
  while (index_[i] != none && at(index_[i]).key != key) i = (i + 1) & mask_;
  return i;
}

KeyedLists::Entry KeyedLists::find(BlockHash key) const { return index_[place(key)]; }

void KeyedLists::grow() {
  const std::vector<Entry> old = std::move(index_);
  index_.assign(old.size() * 2, none);
  mask_ = index_.size() - 1;
  for (const Entry entry : old)
    if (entry != none) index_[place(at(entry).key)] = entry;
}

KeyedLists::Entry KeyedLists::add(BlockHash key) {
  if (2 * static_cast<std::size_t>(used_ + 1) > index_.size()) grow();
  const std::size_t i = place(key);
  KVSIM_CHECK(index_[i] == none, "a key is added twice");
  Entry entry = none;
  if (free_.empty()) {
    entry = static_cast<Entry>(nodes_.size());
    nodes_.emplace_back();
  } else {
    entry = free_.back();
    free_.pop_back();
  }
  at(entry) = {key, none, none, none};
  index_[i] = entry;
  ++used_;
  return entry;
}

void KeyedLists::remove(Entry entry) {
  unlink(entry);
  // Entries behind the hole move up as far as their home allows, so that no search stops early.
  std::size_t hole = place(at(entry).key);
  for (std::size_t i = (hole + 1) & mask_; index_[i] != none; i = (i + 1) & mask_) {
    const std::size_t distance = (i - home(at(index_[i]).key)) & mask_;
    if (distance < ((i - hole) & mask_)) continue;
    index_[hole] = index_[i];
    hole = i;
  }
  index_[hole] = none;
  free_.push_back(entry);
  --used_;
}

void KeyedLists::append(int list, Entry entry) {
  unlink(entry);
  Node& node = at(entry);
  node.list = list;
  node.previous = at(list).previous;
  node.next = list;
  at(node.previous).next = entry;
  at(list).previous = entry;
  ++lengths_[static_cast<std::size_t>(list)];
}

void KeyedLists::unlink(Entry entry) {
  Node& node = at(entry);
  if (node.list == none) return;
  at(node.previous).next = node.next;
  at(node.next).previous = node.previous;
  --lengths_[static_cast<std::size_t>(node.list)];
  node.list = none;
}

std::vector<BlockHash> KeyedLists::keys(int list) const {
  std::vector<BlockHash> out;
  for (Entry entry = first(list); entry != none; entry = next(entry)) out.push_back(key(entry));
  return out;
}

void KeyedLists::verify() const {
  for (int list = 0; list < lists_; ++list) {
    std::int64_t count = 0;
    for (Entry entry = first(list); entry != none; entry = next(entry), ++count) {
      KVSIM_CHECK(at(entry).list == list, "an entry stands in a list that is not its own");
      KVSIM_CHECK(at(at(entry).next).previous == entry, "two neighbours of a list disagree");
      KVSIM_CHECK(count < used_, "a list does not end");
    }
    KVSIM_CHECK(count == length(list), "a list has {} entries and says {}", count, length(list));
  }
  std::int64_t indexed = 0;
  for (const Entry entry : index_) {
    if (entry == none) continue;
    KVSIM_CHECK(find(at(entry).key) == entry, "a key is not found where it is");
    ++indexed;
  }
  KVSIM_CHECK(indexed == used_, "{} keys are in the index, {} in use", indexed, used_);
}

}  // namespace kvsim::kv
