#pragma once
#include <cstdint>

#include "kv/radix/eviction_heap.h"
#include "kv/radix/eviction_order.h"
#include "kv/radix/lock_balance.h"
#include "kv/radix/radix_nodes.h"

namespace kvsim::kv {

struct RadixOptions {
  std::int64_t page_size = 1;
  RadixEviction policy = RadixEviction::lru;
  KeyUnit unit = KeyUnit::token;
};

// Hears of nodes that leave a tree, just before they do. Called once per node, and only where asked
// for.
class RadixObserver {
 public:
  virtual ~RadixObserver() = default;
  virtual void removed(const RadixNodes& nodes, NodeId node) = 0;
};

// Where a lookup ended: `length` units are cached, `node` is the last of them (root_node: none).
struct RadixMatch {
  std::int64_t length = 0;
  NodeId node = root_node;
};
// `prefix` units were there already; `node` ends the whole key.
struct RadixInsert {
  std::int64_t prefix = 0;
  NodeId node = root_node;
};
// Inserts of a chunked prefill that goes on do not count as hits.
enum class InsertKind { whole, chunk };

// SGLang's radix cache in counts (mem_cache/radix_cache.py, 2026-07): which prefixes are cached,
// which of them are locked, what is evicted next.
//
// Keys are cut to whole pages. match() and insert() stamp every node they visit with one time of
// the tree's own clock and split a node where the key leaves it. A locked node and all above it
// cannot be evicted. evict() removes whole unlocked leaves in the order of the policy, a parent
// that became one in its turn. A NodeId stays good until its node is evicted: always while it is
// locked.
//
//   match, insert   O(nodes on the path + runs compared) expected
//   lock, unlock    O(depth)
//   evict           O(log leaves) per removed node, amortised
class RadixTree {
 public:
  explicit RadixTree(const RadixOptions& options);

  RadixMatch match(const KeyView& key);
  // The length that match() would find, without a trace.
  std::int64_t peek(const KeyView& key) const;
  RadixInsert insert(const KeyView& key, std::int64_t priority = 0,
                     InsertKind kind = InsertKind::whole);
  void lock(NodeId node);
  void unlock(NodeId node);
  // Removes leaves until at least `units` are gone or nothing unlocked is left; answers how many.
  std::int64_t evict(std::int64_t units, RadixObserver* observer = nullptr);
  void reset();  // forgets everything, locks too

  std::int64_t evictable() const { return balance_.evictable; }
  std::int64_t protected_units() const { return balance_.locked; }
  std::int64_t total() const { return balance_.evictable + balance_.locked; }
  const RadixNodes& nodes() const { return nodes_; }

  // Checks counts and candidates against the nodes; throws InternalError. O(nodes).
  void verify() const;

 private:
  void visit(NodeId node, std::int64_t now);
  EvictionKey key_of(NodeId node) const { return eviction_key(policy_, nodes_[node].facts); }
  bool candidate(NodeId node) const {
    return nodes_[node].lock_ref == 0 && nodes_[node].childless();
  }

  RadixEviction policy_;
  RadixNodes nodes_;
  EvictionHeap leaves_;
  LockBalance balance_;
};

}  // namespace kvsim::kv
