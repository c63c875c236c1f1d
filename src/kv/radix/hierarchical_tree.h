#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kv/radix/eviction_heap.h"
#include "kv/radix/eviction_order.h"
#include "kv/radix/lock_balance.h"
#include "kv/radix/radix_nodes.h"
#include "kv/radix/radix_tree.h"

namespace kvsim::kv {

// When a node is copied to the host: hicache_write_policy.
enum class HostWrite {
  write_through,            // at its first insert
  write_through_selective,  // at its second
  write_back                // when the device evicts it
};

struct HostWriteRow {
  HostWrite policy;
  std::string_view name;  // as SGLang's flag spells it
};
std::span<const HostWriteRow> host_writes();
std::optional<HostWrite> host_write(std::string_view name);

struct HierarchicalOptions {
  RadixOptions radix;
  HostWrite write_policy = HostWrite::write_through;
  std::int64_t host_units = 0;  // size of the host pool
};

// Hears of every node that changes its place, at the moment when it does. Called once per node, and
// only where one was given.
class HierarchyObserver {
 public:
  virtual ~HierarchyObserver() = default;
  virtual void left_device(const RadixNodes& nodes, NodeId node) = 0;
  virtual void left_host(const RadixNodes& nodes, NodeId node) = 0;
  virtual void written(const RadixNodes& nodes, NodeId node) = 0;
};

// `length` units on the device end at `node`, `host_length` more are on the host only and end at
// `host_node`.
struct HierarchicalMatch {
  std::int64_t length = 0, host_length = 0;
  NodeId node = root_node, host_node = root_node;
};

// SGLang's hierarchical radix cache in counts (mem_cache/hiradix_cache.py, 2026-07): a prefix tree
// whose nodes are on the device, on the host, or on both.
//
// Device nodes form a prefix of every path, so an evicted device leaf either stays as a host node
// or is removed. With the two write-through policies host copies form a prefix too: a node is
// copied below a copied parent only. A copy counts as present from its start; its node stays locked
// on the device until it is acknowledged. A full host pool evicts host-only leaves, in the order of
// the same policy, to take a copy. With write_back a device leaf is copied when it is evicted; its
// device slots are free when eviction ends, or when a later leaf of the same eviction finds no room
// on the host, which is then dropped with all that only the host holds below it.
//
// The pool of device slots is its user's: the tree counts what it holds.
//
//   match, insert, lock, unlock, evict   as RadixTree
//   load_back                            O(depth), besides the eviction it asks for
class HierarchicalTree {
 public:
  explicit HierarchicalTree(const HierarchicalOptions& options,
                            HierarchyObserver* observer = nullptr);

  HierarchicalMatch match(const KeyView& key);
  // The key has device slots; the `prefix` of the answer had others before, so that the new ones
  // are to be given back. Slots of what only the host held are its new device copy.
  RadixInsert insert(const KeyView& key, std::int64_t priority = 0,
                     InsertKind kind = InsertKind::whole);
  void lock(NodeId node);  // a node on the device
  void unlock(NodeId node);
  // Device slots are freed until at least `units` are, or nothing unlocked is left; answers how
  // many.
  std::int64_t evict(std::int64_t units);
  std::int64_t evict_host(std::int64_t units);  // host-only leaves

  // Copies what only the host has of the path to `host_node` back to the device, all or nothing.
  // `available` device slots are free; eviction is tried when they are too few. Nothing is loaded
  // below 10 units, or beyond `quota` less what locking the path takes out of evictable(). The path
  // stays locked until acknowledged.
  struct Loaded {
    std::int64_t loaded = 0;   // 0 = refused
    std::int64_t evicted = 0;  // slots that eviction freed for it, refused or not
  };
  Loaded load_back(NodeId host_node, std::int64_t available,
                   std::optional<std::int64_t> quota = std::nullopt);

  // The `count` oldest copies are finished, or as many as there are, which releases their locks.
  void ack_writes(std::int64_t count);
  void ack_loads(std::int64_t count);
  std::int64_t pending_writes() const { return static_cast<std::int64_t>(writes_.size()); }
  std::int64_t pending_loads() const { return static_cast<std::int64_t>(loads_.size()); }
  void reset();  // forgets everything on device and host, locks and copies under way too

  // Device units of the tree, and units of the host pool in use.
  std::int64_t evictable() const { return balance_.evictable; }
  std::int64_t protected_units() const { return balance_.locked; }
  std::int64_t total() const { return balance_.evictable + balance_.locked; }
  std::int64_t host_used() const { return host_used_; }

  const RadixNodes& nodes() const { return nodes_; }
  bool on_device(NodeId node) const { return at(node).device; }
  bool on_host(NodeId node) const { return at(node).host; }
  // Checks counts, candidates and both prefix properties; throws InternalError. O(nodes).
  void verify() const;

 private:
  struct Place {
    bool device = false, host = false;
    bool leaving = false;  // copied by write_back, off the device when the eviction ends
    std::int32_t device_children = 0;  // without those that are leaving
    std::int32_t host_locks = 0;
  };
  const Place& at(NodeId node) const { return places_[static_cast<std::size_t>(node)]; }
  Place& at(NodeId node) { return places_[static_cast<std::size_t>(node)]; }
  Place& place_for(NodeId node);
  EvictionKey key_of(NodeId node) const { return eviction_key(policy_, nodes_[node].facts); }
  bool device_leaf(NodeId node) const;
  bool host_leaf(NodeId node) const;
  void offer(NodeId node);
  void visit(NodeId node, std::int64_t now);
  NodeId split(NodeId node, std::int64_t units);
  void take_device(NodeId node);
  void count_hit(NodeId node, InsertKind kind);
  bool copy_to_host(NodeId node);
  void evict_leaf(NodeId leaf);
  void leave_device(NodeId node);
  void finish_leaving();
  void drop(NodeId node);

  RadixEviction policy_;
  HostWrite write_policy_;
  std::int64_t host_units_;
  HierarchyObserver* observer_;
  RadixNodes nodes_;
  std::vector<Place> places_;
  EvictionHeap device_leaves_, host_leaves_;
  std::deque<NodeId> writes_, loads_;  // copies under way, oldest first
  std::vector<NodeId> leaving_, dropped_, loading_;
  LockBalance balance_;
  std::int64_t host_used_ = 0;
};

}  // namespace kvsim::kv
