#pragma once
#include <cstdint>
#include <vector>

#include "kv/block_pool.h"

namespace kvsim::kv {

// Keys, each at most once and in at most one of a few lists that keep an order: what recency
// policies are made of.
//
// An entry is a small number that stays with its key until the key is removed, so that its owner
// can keep what belongs to it in a vector beside.
//
//   find, add, remove, append, unlink   O(1) expected; no allocation once as many keys have been
//                                       there at a time
//   keys                                O(length of the list)
//   memory                              24 bytes a key + 8 to 16 bytes of index
class KeyedLists {
 public:
  using Entry = std::int32_t;
  static constexpr Entry none = -1;

  explicit KeyedLists(int lists);

  std::int64_t size() const { return used_; }
  Entry find(BlockHash key) const;
  BlockHash key(Entry entry) const { return at(entry).key; }
  // A key that is not there yet; it is in no list.
  Entry add(BlockHash key);
  // Takes it out of its list as well.
  void remove(Entry entry);
  void clear();

  // To the end of a list, out of the one where it was.
  void append(int list, Entry entry);
  void unlink(Entry entry);
  int list(Entry entry) const { return at(entry).list; }  // -1 = in none
  std::int64_t length(int list) const { return lengths_[static_cast<std::size_t>(list)]; }
  // From the first on; none at the end.
  Entry first(int list) const { return at(list).next_of(list); }
  Entry next(Entry entry) const { return at(entry).next_of(at(entry).list); }
  std::vector<BlockHash> keys(int list) const;

  // Checks links, lengths and index. Throws InternalError.
  void verify() const;

 private:
  struct Node {
    BlockHash key = 0;
    Entry previous = none, next = none;
    std::int32_t list = none;
    // The end of a list is its sentinel, the node with the list's own number.
    Entry next_of(int of) const { return next == of ? none : next; }
  };
  const Node& at(Entry entry) const { return nodes_[static_cast<std::size_t>(entry)]; }
  Node& at(Entry entry) { return nodes_[static_cast<std::size_t>(entry)]; }
  std::size_t home(BlockHash key) const;
  std::size_t place(BlockHash key) const;  // where it is in the index, or would be
  void grow();

  int lists_;
  std::vector<Node> nodes_;   // sentinels of the lists, then the keys
  std::vector<Entry> index_;  // open addressing, linear probing
  std::vector<Entry> free_;
  std::vector<std::int64_t> lengths_;
  std::size_t mask_ = 0;
  std::int64_t used_ = 0;
};

}  // namespace kvsim::kv
