#include "kv/radix/hierarchical_tree.h"

#include <algorithm>
#include <array>
#include <limits>

#include "diag/check.h"

namespace kvsim::kv {
namespace {

constexpr std::array rows{
    HostWriteRow{HostWrite::write_through, "write_through"},
    HostWriteRow{HostWrite::write_through_selective, "write_through_selective"},
    HostWriteRow{HostWrite::write_back, "write_back"},
};

constexpr std::int64_t load_back_threshold = 10;  // units; less is computed again

// Inserts after which a node is copied to the host.
std::int64_t hits_to_copy(HostWrite policy) {
  switch (policy) {
    case HostWrite::write_through:
      return 1;
    case HostWrite::write_through_selective:
      return 2;
    case HostWrite::write_back:
      return std::numeric_limits<std::int64_t>::max();
  }
  return 0;
}

}  // namespace

std::span<const HostWriteRow> host_writes() { return rows; }

std::optional<HostWrite> host_write(std::string_view name) {
  const auto* row = std::ranges::find(rows, name, &HostWriteRow::name);
  if (row == rows.end()) return std::nullopt;
  return row->policy;
}

HierarchicalTree::HierarchicalTree(const HierarchicalOptions& options, HierarchyObserver* observer)
    : policy_(options.radix.policy),
      write_policy_(options.write_policy),
      host_units_(options.host_units),
      observer_(observer),
      nodes_(options.radix.page_size, options.radix.unit) {
  reset();
}

void HierarchicalTree::reset() {
  nodes_.clear();
  device_leaves_.clear();
  host_leaves_.clear();
  writes_.clear();
  loads_.clear();
  balance_ = {};
  host_used_ = 0;
  places_.clear();
  Place& root = place_for(root_node);
  root.device = root.host = true;
}

HierarchicalTree::Place& HierarchicalTree::place_for(NodeId node) {
  if (static_cast<std::size_t>(node) >= places_.size())
    places_.resize(static_cast<std::size_t>(node) + 1);
  return at(node) = Place{};
}

bool HierarchicalTree::device_leaf(NodeId node) const {
  const Place& place = at(node);
  return place.device && !place.leaving && place.device_children == 0 && nodes_[node].lock_ref == 0;
}

bool HierarchicalTree::host_leaf(NodeId node) const {
  const Place& place = at(node);
  return place.host && !place.device && place.host_locks == 0 && nodes_[node].childless();
}

void HierarchicalTree::offer(NodeId node) {
  if (device_leaf(node)) device_leaves_.offer(node, key_of(node));
  if (host_leaf(node)) host_leaves_.offer(node, key_of(node));
}

void HierarchicalTree::visit(NodeId node, std::int64_t now) {
  nodes_[node].facts.last_access = now;
  if (use_moves_forward(policy_)) offer(node);
}

NodeId HierarchicalTree::split(NodeId node, std::int64_t units) {
  const NodeId upper = nodes_.split(node, units);
  place_for(upper);
  const Place& lower = at(node);
  at(upper).device = lower.device;
  at(upper).host = lower.host;
  at(upper).device_children = lower.device ? 1 : 0;
  return upper;
}

HierarchicalMatch HierarchicalTree::match(const KeyView& key) {
  const std::int64_t now = nodes_.tick();
  KeyCursor rest = nodes_.cursor(key);
  HierarchicalMatch found;
  bool whole = true;
  for (NodeId child = nodes_.find_child(root_node, rest); whole && child != no_node;
       child = nodes_.find_child(found.host_node, rest)) {
    visit(child, now);
    const std::int64_t common = nodes_.common(child, rest);
    whole = common == nodes_[child].length;
    found.host_node = whole ? child : split(child, common);
    rest.advance(common);
    if (at(child).device) {
      found.length += common;
      found.node = found.host_node;
    } else {
      found.host_length += common;
    }
  }
  return found;
}

void HierarchicalTree::take_device(NodeId node) {
  at(node).device = true;
  ++at(nodes_[node].parent).device_children;
  balance_.evictable += nodes_[node].length;
}

void HierarchicalTree::count_hit(NodeId node, InsertKind kind) {
  if (write_policy_ == HostWrite::write_back || kind == InsertKind::chunk) return;
  const std::int64_t hits = ++nodes_[node].facts.hit_count;
  if (at(node).host || hits < hits_to_copy(write_policy_)) return;
  if (!at(nodes_[node].parent).host || !copy_to_host(node)) return;
  writes_.push_back(node);
  lock(node);
}

RadixInsert HierarchicalTree::insert(const KeyView& key, std::int64_t priority, InsertKind kind) {
  const std::int64_t now = nodes_.tick();
  KeyCursor rest = nodes_.cursor(key);
  RadixInsert done;
  for (NodeId child = nodes_.find_child(root_node, rest); child != no_node;
       child = nodes_.find_child(done.node, rest)) {
    visit(child, now);
    const std::int64_t common = nodes_.common(child, rest);
    rest.advance(common);
    done.node = common < nodes_[child].length ? split(child, common) : child;
    EvictionFacts& facts = nodes_[done.node].facts;
    facts.priority = std::max(facts.priority, priority);
    if (at(done.node).device) {
      done.prefix += common;
      count_hit(done.node, kind);
    } else {
      take_device(done.node);
      offer(done.node);
    }
  }
  if (rest.left == 0) return done;
  done.node = nodes_.add(done.node, rest, priority);
  place_for(done.node);
  take_device(done.node);
  offer(done.node);
  count_hit(done.node, kind);
  return done;
}

void HierarchicalTree::lock(NodeId node) { balance_.lock(nodes_, node); }

void HierarchicalTree::unlock(NodeId node) {
  balance_.unlock(nodes_, node, [this](NodeId freed) { offer(freed); });
}

bool HierarchicalTree::copy_to_host(NodeId node) {
  const std::int64_t length = nodes_[node].length;
  if (host_units_ - host_used_ < length) evict_host(length);
  if (host_units_ - host_used_ < length) return false;
  host_used_ += length;
  at(node).host = true;
  if (observer_ != nullptr) observer_->written(nodes_, node);
  return true;
}

std::int64_t HierarchicalTree::evict(std::int64_t units) {
  std::int64_t evicted = 0;
  while (evicted < units) {
    const NodeId leaf = device_leaves_.pop([this](NodeId node) {
      return device_leaf(node) ? std::optional(key_of(node)) : std::nullopt;
    });
    if (leaf == no_node) break;
    evicted += nodes_[leaf].length;
    const NodeId parent = nodes_[leaf].parent;
    --at(parent).device_children;
    evict_leaf(leaf);
    offer(parent);
  }
  finish_leaving();
  return evicted;
}

void HierarchicalTree::evict_leaf(NodeId leaf) {
  if (at(leaf).host) {
    leave_device(leaf);
  } else if (write_policy_ == HostWrite::write_back && copy_to_host(leaf)) {
    at(leaf).leaving = true;
    leaving_.push_back(leaf);
  } else {
    finish_leaving();
    leave_device(leaf);
    drop(leaf);
  }
}

void HierarchicalTree::leave_device(NodeId node) {
  at(node).device = at(node).leaving = false;
  balance_.evictable -= nodes_[node].length;
  if (observer_ != nullptr) observer_->left_device(nodes_, node);
  offer(node);
}

void HierarchicalTree::finish_leaving() {
  for (const NodeId node : leaving_) leave_device(node);
  leaving_.clear();
}

void HierarchicalTree::drop(NodeId top) {
  dropped_.assign(1, top);
  for (std::size_t i = 0; i < dropped_.size(); ++i) {  // a node, all below it, then its sibling
    auto after = dropped_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    for (NodeId c = nodes_[dropped_[i]].last_child; c != no_node; c = nodes_[c].previous)
      after = dropped_.insert(after, c);
  }
  for (const NodeId node : dropped_) {
    if (!at(node).host) continue;
    host_used_ -= nodes_[node].length;
    if (observer_ != nullptr) observer_->left_host(nodes_, node);
  }
  for (auto node = dropped_.rbegin(); node != dropped_.rend(); ++node) {
    device_leaves_.withdraw(*node);
    host_leaves_.withdraw(*node);
    nodes_.remove(*node);
    at(*node) = Place{};
  }
}

std::int64_t HierarchicalTree::evict_host(std::int64_t units) {
  std::int64_t evicted = 0;
  while (evicted < units) {
    const NodeId leaf = host_leaves_.pop([this](NodeId node) {
      return host_leaf(node) ? std::optional(key_of(node)) : std::nullopt;
    });
    if (leaf == no_node) break;
    evicted += nodes_[leaf].length;
    const NodeId parent = nodes_[leaf].parent;
    drop(leaf);
    offer(parent);
  }
  return evicted;
}

HierarchicalTree::Loaded HierarchicalTree::load_back(NodeId host_node, std::int64_t available,
                                                     std::optional<std::int64_t> quota) {
  std::int64_t units = 0;
  NodeId ancestor = host_node;
  loading_.clear();
  for (; !at(ancestor).device; ancestor = nodes_[ancestor].parent) {
    loading_.push_back(ancestor);
    units += nodes_[ancestor].length;
  }
  const std::int64_t before = balance_.evictable;
  lock(ancestor);
  Loaded done;
  if (units >= load_back_threshold && (!quota || units <= *quota - (before - balance_.evictable))) {
    for (const NodeId node : loading_) ++at(node).host_locks;
    if (available < units) done.evicted = evict(units);
    for (const NodeId node : loading_) --at(node).host_locks;
    if (available + done.evicted >= units) done.loaded = units;
  }
  if (done.loaded > 0) {
    std::for_each(loading_.rbegin(), loading_.rend(), [this](NodeId node) { take_device(node); });
    lock(host_node);
    loads_.push_back(host_node);
  } else if (host_node != ancestor) {
    offer(host_node);
  }
  unlock(ancestor);
  return done;
}

void HierarchicalTree::ack_writes(std::int64_t count) {
  for (; count > 0 && !writes_.empty(); --count) {
    unlock(writes_.front());
    writes_.pop_front();
  }
}

void HierarchicalTree::ack_loads(std::int64_t count) {
  for (; count > 0 && !loads_.empty(); --count) {
    unlock(loads_.front());
    loads_.pop_front();
  }
}

void HierarchicalTree::verify() const {
  nodes_.verify();
  std::int64_t locked = 0, unlocked = 0, host = 0;
  for (const NodeId id : nodes_.all()) {
    const Place& place = at(id);
    const RadixNode& node = nodes_[id];
    KVSIM_CHECK(place.device || place.host, "node {} is nowhere", id);
    KVSIM_CHECK(!place.device || at(node.parent).device, "node {} lost its device prefix", id);
    KVSIM_CHECK(write_policy_ == HostWrite::write_back || !place.host || at(node.parent).host,
                "node {} lost its host prefix", id);
    KVSIM_CHECK(place.device || node.lock_ref == 0, "node {} is locked off the device", id);
    KVSIM_CHECK(!device_leaf(id) || device_leaves_.holds(id), "leaf {} cannot be evicted", id);
    KVSIM_CHECK(!host_leaf(id) || host_leaves_.holds(id), "host leaf {} cannot be evicted", id);
    if (place.device) (node.lock_ref > 0 ? locked : unlocked) += node.length;
    if (place.host) host += node.length;
  }
  KVSIM_CHECK(locked == balance_.locked && unlocked == balance_.evictable && host == host_used_,
              "{} locked, {} unlocked, {} host units; {}, {} and {} counted", locked, unlocked,
              host, balance_.locked, balance_.evictable, host_used_);
  KVSIM_CHECK(host_used_ <= host_units_, "{} of {} host units in use", host_used_, host_units_);
}

}  // namespace kvsim::kv
