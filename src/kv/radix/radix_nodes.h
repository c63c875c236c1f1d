#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kv/radix/eviction_order.h"
#include "kv/radix/radix_key.h"

// The nodes that SGLang's prefix trees share: structure, keys and clocks, no policy.
namespace kvsim::kv {

using NodeId = std::int32_t;
inline constexpr NodeId root_node = 0;
inline constexpr NodeId no_node = -1;

// What a key counts: tokens, or pairs of neighbouring tokens (speculation with EAGLE), of which n
// tokens have n - 1.
enum class KeyUnit { token, bigram };

// One node: the units from its parent's end to its own, always whole pages. `runs` holds the tokens
// of these units, with bigrams one token more than `length`.
struct RadixNode {
  std::vector<TokenRun> runs;
  std::int64_t length = 0;
  EvictionFacts facts;
  std::uint64_t extra_key = 0;
  std::uint64_t hash = 0;  // of parent, extra key and first page
  std::int32_t lock_ref = 0;
  NodeId parent = no_node;
  NodeId first_child = no_node, last_child = no_node;  // in the order in which they came
  NodeId previous = no_node, next = no_node;           // siblings

  bool childless() const { return first_child == no_node; }
};

// A position in a key: what has not been walked yet, in whole pages.
struct KeyCursor {
  std::uint64_t extra_key = 0;
  RunCursor at;
  std::int64_t left = 0;  // units

  void advance(std::int64_t units) {
    at.advance(units);
    left -= units;
  }
};

// A forest below one root (id 0, never removed). A node keeps its id until it is removed: a split
// puts a new node above it. Children are found in one hash table over (parent, extra key, first
// page), with open addressing and exact comparison.
//
//   find_child      O(runs of a page) expected
//   common, split   O(runs of the node)
//   add, remove     O(runs of the node) expected; a removed node's memory serves the next one
//   memory          104 bytes a node, 24 bytes a run, 16 to 32 bytes of index
class RadixNodes {
 public:
  RadixNodes(std::int64_t page_size, KeyUnit unit);

  std::int64_t page_size() const { return page_; }
  KeyUnit unit() const { return unit_; }
  std::int64_t count() const { return count_; }  // without the root
  const RadixNode& operator[](NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  RadixNode& operator[](NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  std::int64_t tick() { return ++clock_; }  // a time later than all before

  // The key from its start, cut to whole pages.
  KeyCursor cursor(const KeyView& key) const;
  // The child of `parent` that starts with the key's next page; no_node if there is none, or no
  // page left.
  NodeId find_child(NodeId parent, const KeyCursor& key) const;
  // Leading units that node and key share, in whole pages.
  std::int64_t common(NodeId node, const KeyCursor& key) const;

  // A new node between `node` and its parent, with the first `units` of it. It takes over lock,
  // hits and priority; its own times are fresh.
  NodeId split(NodeId node, std::int64_t units);
  // A new last child with the rest of the key.
  NodeId add(NodeId parent, const KeyCursor& key, std::int64_t priority);
  void remove(NodeId leaf);
  void clear();  // all but the root; the clock runs on

  // All nodes without the root, parents first (tests, conformance). O(nodes).
  std::vector<NodeId> all() const;
  // The tokens that name a node's units: of a bigram its first.
  std::vector<TokenRun> tokens(NodeId id) const;
  // Checks links, lengths, locks along paths and the hash table; throws InternalError.
  void verify() const;

 private:
  struct Slot {
    std::uint32_t tag = 0;
    NodeId node = no_node;
  };
  std::int64_t overlap() const { return unit_ == KeyUnit::bigram ? 1 : 0; }
  std::uint64_t child_hash(NodeId parent, std::uint64_t extra_key, const RunCursor& at) const;
  NodeId take();
  void link_last(NodeId parent, NodeId node);
  void index_add(NodeId node);
  void index_remove(NodeId node);
  std::size_t index_place(NodeId node) const;
  void grow_index();

  std::int64_t page_;
  KeyUnit unit_;
  std::vector<RadixNode> nodes_;
  std::vector<NodeId> unused_;
  std::vector<Slot> index_;
  std::size_t mask_ = 0;
  std::int64_t count_ = 0;
  std::int64_t clock_ = 0;
};

}  // namespace kvsim::kv
