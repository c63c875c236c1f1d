#pragma once
#include <cstdint>
#include <vector>

#include "kv/radix/eviction_heap.h"
#include "kv/radix/radix_nodes.h"

namespace kvsim::kv {

// Whether insert() cuts a new leaf so that its end alone holds the window. Locking the end then
// leaves the rest of the leaf's window KV evictable.
enum class LeafSplit { off, on_insert };

struct WindowOptions {
  std::int64_t page_size = 1;
  std::int64_t window = 1;  // tokens that a sliding-window layer looks back
  LeafSplit leaf_split = LeafSplit::off;
  KeyUnit unit = KeyUnit::token;
};

// What a lock holds: the whole path in the full pool, its last `window_units` in the other.
struct WindowLock {
  NodeId node = root_node;
  std::int64_t window_units = 0;
};

// SGLang's prefix tree for models with full and sliding-window attention, in counts
// (mem_cache/swa_radix_cache.py, 2026-07). Two pools: every node holds full-attention KV; its
// window KV may be gone, then it is a tombstone. A leaf is never one.
//
// A match ends at the deepest node behind which a window of KV can be read: no tombstone lies on
// the path, or at least `window` units follow the last one. Both pools go by last use, where the
// nodes of one path count as used from the root down, so that window KV near the root goes first.
//
//   match, insert   O(nodes on the path + runs compared) expected
//   lock, unlock    O(depth)
//   evict           O(log nodes) per node, amortised
class WindowTree {
 public:
  explicit WindowTree(const WindowOptions& options);

  // Splits where the key leaves a node; only the nodes up to the match count as used.
  struct Match {
    std::int64_t length = 0;
    NodeId node = root_node;
  };
  Match match(const KeyView& key);
  // The key has slots in both pools. Answers the units that were there already: their full slots,
  // and window slots but those of tombstones, which come back to life, are to be given back.
  std::int64_t insert(const KeyView& key);
  WindowLock lock(NodeId node);
  void unlock(const WindowLock& lock);

  // Removes the leaves used longest ago until `full` units are gone, then takes window KV, of
  // inner nodes too, until `window` units are gone in all.
  struct Evicted {
    std::int64_t full = 0;  // without tombstones that were left childless by window eviction
    std::int64_t window = 0;
  };
  Evicted evict(std::int64_t full, std::int64_t window);
  void reset();  // forgets everything, locks too

  // Units in the tree, by pool.
  struct Pool {
    std::int64_t evictable = 0, locked = 0;
    std::int64_t used() const { return evictable + locked; }
  };
  const Pool& full() const { return full_; }
  const Pool& window() const { return window_; }
  const RadixNodes& nodes() const { return nodes_; }
  bool tombstone(NodeId node) const { return at(node).tombstone; }
  // Checks counts and candidates against the nodes; throws InternalError. O(nodes).
  void verify() const;

 private:
  // Of the window pool; the full pool uses the node's own fields.
  struct Place {
    std::int64_t last_access = 0;
    std::int32_t lock_ref = 0;
    bool tombstone = false;
  };
  const Place& at(NodeId node) const { return places_[static_cast<std::size_t>(node)]; }
  Place& at(NodeId node) { return places_[static_cast<std::size_t>(node)]; }
  Place& place_for(NodeId node);
  bool full_candidate(NodeId node) const;
  bool window_candidate(NodeId node) const;
  void offer(NodeId node);
  void use(NodeId node);
  NodeId split(NodeId node, std::int64_t units);
  void use_path(NodeId node);
  void remove(NodeId leaf);
  std::int64_t remove_tombstones(NodeId node);

  std::int64_t window_units_;
  LeafSplit leaf_split_;
  RadixNodes nodes_;
  std::vector<Place> places_;
  EvictionHeap leaves_, windows_;
  Pool full_, window_;
  std::vector<NodeId> path_;
};

}  // namespace kvsim::kv
