#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/profile.h"
#include "kv/radix/radix_tree.h"

namespace kvsim::engine::sglang {

// What remembers KV between requests: nothing (disable_radix_cache), the radix tree, or the radix
// tree with a host pool behind it (SGLang mem_cache, main of 2026-07-20). It counts the slots that
// it holds; free slots and those of requests are its user's business.
//
// Keys are cut to whole pages. A locked node keeps its path. Called a few times per request and
// once per eviction; costs are those of kv/radix.
class PrefixCache {
 public:
  virtual ~PrefixCache() = default;

  struct Match {
    std::int64_t length = 0, host_length = 0;  // on the device; beyond it, on the host only
    kv::NodeId node = kv::root_node, host_node = kv::root_node;  // where each of them ends
  };
  virtual Match match(const kv::KeyView& key) = 0;
  // The key has device slots now. Answers how many of its tokens had others before.
  virtual std::int64_t insert(const kv::KeyView& key, std::int64_t priority,
                              kv::InsertKind kind) = 0;
  virtual void lock(kv::NodeId node) = 0;
  virtual void unlock(kv::NodeId node) = 0;
  // Gives up unlocked leaves until at least so many slots are free of them, or none is left;
  // answers how many.
  virtual std::int64_t evict(std::int64_t tokens) = 0;

  virtual std::int64_t evictable() const = 0;
  virtual std::int64_t locked() const = 0;
  virtual const kv::RadixNodes* nodes() const = 0;  // null: there is no tree
  virtual void verify() const = 0;

  // With a host pool only.
  struct Loaded {
    std::int64_t tokens = 0;   // 0 = refused
    std::int64_t evicted = 0;  // slots that eviction freed for it
  };
  // Copies what only the host has of the path to `node` to the device, all or nothing.
  virtual Loaded load_back(kv::NodeId node, std::int64_t available);
  // All copies between the pools have ended, which releases what they locked.
  virtual void copies_ended() {}
  virtual bool copies_pending() const { return false; }
  virtual std::optional<std::int64_t> host_used() const { return std::nullopt; }
};

std::unique_ptr<PrefixCache> make_prefix_cache(const SchedulerLimits& limits);

}  // namespace kvsim::engine::sglang
