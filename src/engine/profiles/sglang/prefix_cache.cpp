#include "engine/profiles/sglang/prefix_cache.h"

#include "diag/check.h"
#include "kv/radix/hierarchical_tree.h"

namespace kvsim::engine::sglang {
namespace {

class NoCache final : public PrefixCache {
 public:
  Match match(const kv::KeyView&) override { return {}; }
  std::int64_t insert(const kv::KeyView&, std::int64_t, kv::InsertKind) override { return 0; }
  void lock(kv::NodeId) override {}
  void unlock(kv::NodeId) override {}
  std::int64_t evict(std::int64_t) override { return 0; }
  std::int64_t evictable() const override { return 0; }
  std::int64_t locked() const override { return 0; }
  const kv::RadixNodes* nodes() const override { return nullptr; }
  void verify() const override {}
};

// What both trees of kv/radix answer alike.
template <class Tree>
class TreeCache : public PrefixCache {
 public:
  template <class Options>
  explicit TreeCache(const Options& options) : tree_(options) {}

  std::int64_t insert(const kv::KeyView& key, std::int64_t priority, kv::InsertKind kind) override {
    return tree_.insert(key, priority, kind).prefix;
  }
  void lock(kv::NodeId node) override { tree_.lock(node); }
  void unlock(kv::NodeId node) override { tree_.unlock(node); }
  std::int64_t evict(std::int64_t tokens) override { return tree_.evict(tokens); }
  std::int64_t evictable() const override { return tree_.evictable(); }
  std::int64_t locked() const override { return tree_.protected_units(); }
  const kv::RadixNodes* nodes() const override { return &tree_.nodes(); }
  void verify() const override { tree_.verify(); }

 protected:
  Tree tree_;
};

class RadixCache final : public TreeCache<kv::RadixTree> {
 public:
  using TreeCache::TreeCache;
  Match match(const kv::KeyView& key) override {
    const kv::RadixMatch found = tree_.match(key);
    return {found.length, 0, found.node, found.node};
  }
};

class HostBackedCache final : public TreeCache<kv::HierarchicalTree> {
 public:
  using TreeCache::TreeCache;
  Match match(const kv::KeyView& key) override {
    const kv::HierarchicalMatch found = tree_.match(key);
    return {found.length, found.host_length, found.node, found.host_node};
  }
  Loaded load_back(kv::NodeId node, std::int64_t available) override {
    const kv::HierarchicalTree::Loaded done = tree_.load_back(node, available);
    return {done.loaded, done.evicted};
  }
  void copies_ended() override {
    tree_.ack_writes(tree_.pending_writes());
    tree_.ack_loads(tree_.pending_loads());
  }
  bool copies_pending() const override {
    return tree_.pending_writes() > 0 || tree_.pending_loads() > 0;
  }
  std::optional<std::int64_t> host_used() const override { return tree_.host_used(); }
};

kv::RadixEviction eviction(RadixEvictionPolicy policy) {
  switch (policy) {
    case RadixEvictionPolicy::lru:
      return kv::RadixEviction::lru;
    case RadixEvictionPolicy::lfu:
      return kv::RadixEviction::lfu;
    case RadixEvictionPolicy::fifo:
      return kv::RadixEviction::fifo;
    case RadixEvictionPolicy::filo:
      return kv::RadixEviction::filo;
    case RadixEvictionPolicy::mru:
      return kv::RadixEviction::mru;
    case RadixEvictionPolicy::slru:
      return kv::RadixEviction::slru;
    case RadixEvictionPolicy::priority:
      return kv::RadixEviction::priority;
  }
  return kv::RadixEviction::lru;
}

kv::HostWrite host_write(HicacheWritePolicy policy) {
  switch (policy) {
    case HicacheWritePolicy::write_through:
      return kv::HostWrite::write_through;
    case HicacheWritePolicy::write_through_selective:
      return kv::HostWrite::write_through_selective;
    case HicacheWritePolicy::write_back:
      return kv::HostWrite::write_back;
  }
  return kv::HostWrite::write_through;
}

// A ratio gives whole pages and one more; a number of slots is taken as it is, in whole pages.
std::int64_t host_slots(const SchedulerLimits& limits) {
  const std::int64_t page = limits.block_tokens;
  if (limits.sglang.host_tokens) return *limits.sglang.host_tokens / page * page;
  const double slots = limits.sglang.hicache_ratio * static_cast<double>(limits.num_blocks * page);
  return (static_cast<std::int64_t>(slots) / page + 1) * page;
}

}  // namespace

PrefixCache::Loaded PrefixCache::load_back(kv::NodeId node, std::int64_t) {
  KVSIM_CHECK(false, "node {} is to be loaded from a host pool that is not there", node);
  return {};
}

std::unique_ptr<PrefixCache> make_prefix_cache(const SchedulerLimits& limits) {
  const SglangOptions& o = limits.sglang;
  if (o.disable_radix_cache || !limits.enable_prefix_caching) return std::make_unique<NoCache>();
  const kv::RadixOptions radix{limits.block_tokens, eviction(o.radix_eviction_policy),
                               kv::KeyUnit::token};
  if (!o.enable_hierarchical_cache) return std::make_unique<RadixCache>(radix);
  return std::make_unique<HostBackedCache>(
      kv::HierarchicalOptions{radix, host_write(o.hicache_write_policy), host_slots(limits)});
}

}  // namespace kvsim::engine::sglang
