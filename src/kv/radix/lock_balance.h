#pragma once
#include <cstdint>

#include "diag/check.h"
#include "kv/radix/radix_nodes.h"

namespace kvsim::kv {

// Units of a tree by whether a lock keeps them. A lock holds a node and all above it; sizes move
// between the two sides when a node's first lock comes and when its last one goes. O(depth).
struct LockBalance {
  std::int64_t evictable = 0, locked = 0;

  void lock(RadixNodes& nodes, NodeId node) {
    for (; node != root_node; node = nodes[node].parent) {
      RadixNode& at = nodes[node];
      if (at.lock_ref++ > 0) continue;
      evictable -= at.length;
      locked += at.length;
    }
  }
  // Calls `freed` with every node whose last lock goes, deepest first.
  template <class Freed>
  void unlock(RadixNodes& nodes, NodeId node, Freed freed) {
    for (; node != root_node; node = nodes[node].parent) {
      RadixNode& at = nodes[node];
      KVSIM_CHECK(at.lock_ref > 0, "node {} is unlocked more often than locked", node);
      if (--at.lock_ref > 0) continue;
      evictable += at.length;
      locked -= at.length;
      freed(node);
    }
  }
};

}  // namespace kvsim::kv
