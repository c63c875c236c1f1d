#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kv/radix/eviction_order.h"
#include "kv/radix/radix_nodes.h"

namespace kvsim::kv {

// Candidates for eviction, smallest key first: a four-way heap that knows where every node stands.
//
// Stored keys may be too small: using a node again, which only moves it back, costs nothing here,
// and a node that is no candidate any more may stay. pop() asks for the key of the moment and puts
// right what it meets; each of these repairs is paid for by one use or one lock.
//
//   offer, withdraw, pop   O(log n), pop amortised; offer of a newest node under lru, fifo: O(1)
//   memory                 24 bytes a candidate and 4 bytes a node
class EvictionHeap {
 public:
  bool holds(NodeId node) const { return place_of(node) >= 0; }

  // The node is a candidate with this key, or with a smaller one where it stands here already.
  void offer(NodeId node, EvictionKey key) {
    const std::int32_t at = place_of(node);
    if (at < 0) {
      if (static_cast<std::size_t>(node) >= place_.size())
        place_.resize(static_cast<std::size_t>(node) + 1, -1);
      entries_.push_back({key, node});
      sift_up(entries_.size() - 1);
    } else if (key < entries_[static_cast<std::size_t>(at)].key) {
      entries_[static_cast<std::size_t>(at)].key = key;
      sift_up(static_cast<std::size_t>(at));
    }
  }
  // The node ceases to exist.
  void withdraw(NodeId node) {
    if (const std::int32_t at = place_of(node); at >= 0) remove(static_cast<std::size_t>(at));
  }
  // Takes the first candidate out; no_node when there is none. `current(node)` answers its key of
  // the moment, nullopt when it is no candidate.
  template <class Current>
  NodeId pop(Current&& current) {
    while (!entries_.empty()) {
      const Entry top = entries_.front();
      const std::optional<EvictionKey> key = current(top.node);
      if (key && top.key < *key) {
        entries_.front().key = *key;
        sift_down(0);
        continue;
      }
      remove(0);
      if (key) return top.node;
    }
    return no_node;
  }
  void clear() {
    entries_.clear();
    place_.clear();
  }

 private:
  struct Entry {
    EvictionKey key;
    NodeId node = no_node;
  };
  std::int32_t place_of(NodeId node) const {
    const auto i = static_cast<std::size_t>(node);
    return i < place_.size() ? place_[i] : -1;
  }
  void put(std::size_t at, const Entry& entry) {
    entries_[at] = entry;
    place_[static_cast<std::size_t>(entry.node)] = static_cast<std::int32_t>(at);
  }
  void sift_up(std::size_t at);
  void sift_down(std::size_t at);
  void remove(std::size_t at);

  std::vector<Entry> entries_;
  std::vector<std::int32_t> place_;  // node -> entry, -1 = none
};

}  // namespace kvsim::kv
