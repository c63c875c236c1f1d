#include "kv/radix/window_tree.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "diag/check.h"

namespace kvsim::kv {

WindowTree::WindowTree(const WindowOptions& options)
    : window_units_(options.window),
      leaf_split_(options.leaf_split),
      nodes_(options.page_size, options.unit) {
  reset();
}

void WindowTree::reset() {
  nodes_.clear();
  leaves_.clear();
  windows_.clear();
  full_ = window_ = Pool{};
  places_.clear();
  place_for(root_node).lock_ref = 1;
}

WindowTree::Place& WindowTree::place_for(NodeId node) {
  if (static_cast<std::size_t>(node) >= places_.size())
    places_.resize(static_cast<std::size_t>(node) + 1);
  return at(node) = Place{};
}

bool WindowTree::full_candidate(NodeId node) const {
  return nodes_[node].lock_ref == 0 && nodes_[node].childless();
}

bool WindowTree::window_candidate(NodeId node) const {
  return at(node).lock_ref == 0 && !at(node).tombstone;
}

void WindowTree::offer(NodeId node) {
  if (full_candidate(node)) leaves_.offer(node, {0, nodes_[node].facts.last_access});
  if (window_candidate(node)) windows_.offer(node, {0, at(node).last_access});
}

void WindowTree::use(NodeId node) {
  nodes_[node].facts.last_access = at(node).last_access = nodes_.tick();
}

NodeId WindowTree::split(NodeId node, std::int64_t units) {
  const NodeId upper = nodes_.split(node, units);
  const Place place = at(node);
  place_for(upper) = place;
  use(upper);
  use(node);
  offer(upper);
  return upper;
}

void WindowTree::use_path(NodeId node) {
  path_.clear();
  for (; node != root_node; node = nodes_[node].parent) path_.push_back(node);
  for (auto up = path_.rbegin(); up != path_.rend(); ++up) use(*up);
}

WindowTree::Match WindowTree::match(const KeyView& key) {
  KeyCursor rest = nodes_.cursor(key);
  Match walked, found;
  std::int64_t readable = std::numeric_limits<std::int64_t>::max() / 2;  // since a tombstone
  bool whole = true;
  for (NodeId child = nodes_.find_child(root_node, rest); whole && child != no_node;
       child = nodes_.find_child(walked.node, rest)) {
    if (at(child).tombstone) {
      if (readable >= window_units_) found = walked;
      readable = 0;
    }
    const std::int64_t common = nodes_.common(child, rest);
    whole = common == nodes_[child].length;
    walked = {walked.length + common, whole ? child : split(child, common)};
    rest.advance(common);
    if (!at(child).tombstone) readable += common;
  }
  if (readable >= window_units_) found = walked;
  use_path(found.node);
  return found;
}

std::int64_t WindowTree::insert(const KeyView& key) {
  KeyCursor rest = nodes_.cursor(key);
  std::int64_t prefix = 0;
  NodeId end = root_node;
  for (NodeId child = nodes_.find_child(root_node, rest); child != no_node;
       child = nodes_.find_child(end, rest)) {
    use(child);
    const std::int64_t common = nodes_.common(child, rest);
    rest.advance(common);
    prefix += common;
    end = common < nodes_[child].length ? split(child, common) : child;
    if (!at(end).tombstone) continue;
    at(end).tombstone = false;
    at(end).last_access = nodes_.tick();
    window_.evictable += common;
    offer(end);
  }
  if (rest.left == 0) return prefix;
  const NodeId leaf = nodes_.add(end, rest, 0);
  place_for(leaf);
  use(leaf);
  full_.evictable += rest.left;
  window_.evictable += rest.left;
  offer(leaf);
  const std::int64_t page = nodes_.page_size();
  const std::int64_t tail = (window_units_ + page - 1) / page * page;
  if (leaf_split_ == LeafSplit::on_insert && rest.left > tail) split(leaf, rest.left - tail);
  return prefix;
}

WindowLock WindowTree::lock(NodeId node) {
  WindowLock held{node, 0};
  for (; node != root_node; node = nodes_[node].parent) {
    const std::int64_t length = nodes_[node].length;
    if (nodes_[node].lock_ref++ == 0) {
      full_.evictable -= length;
      full_.locked += length;
    }
    if (held.window_units >= window_units_) continue;
    held.window_units += length;
    if (at(node).lock_ref++ > 0) continue;
    KVSIM_CHECK(!at(node).tombstone, "tombstone {} is locked for its window", node);
    window_.evictable -= length;
    window_.locked += length;
  }
  return held;
}

// A node may have been split since: its parts together are as long as it was, so that the length
// says where the lock in the window pool ends.
void WindowTree::unlock(const WindowLock& held) {
  std::int64_t window_left = held.window_units;
  for (NodeId node = held.node; node != root_node; node = nodes_[node].parent) {
    const std::int64_t length = nodes_[node].length;
    KVSIM_CHECK(nodes_[node].lock_ref > 0, "node {} is unlocked more often than locked", node);
    if (--nodes_[node].lock_ref == 0) {
      full_.evictable += length;
      full_.locked -= length;
    }
    if (window_left > 0) {
      window_left -= length;
      if (--at(node).lock_ref == 0) {
        window_.evictable += length;
        window_.locked -= length;
      }
    }
    offer(node);
  }
}

void WindowTree::remove(NodeId leaf) {
  full_.evictable -= nodes_[leaf].length;
  if (!at(leaf).tombstone) window_.evictable -= nodes_[leaf].length;
  leaves_.withdraw(leaf);
  windows_.withdraw(leaf);
  nodes_.remove(leaf);
  at(leaf) = Place{};
}

std::int64_t WindowTree::remove_tombstones(NodeId node) {
  std::int64_t removed = 0;
  while (at(node).tombstone && full_candidate(node)) {
    const NodeId parent = nodes_[node].parent;
    removed += nodes_[node].length;
    remove(node);
    node = parent;
  }
  offer(node);
  return removed;
}

WindowTree::Evicted WindowTree::evict(std::int64_t full, std::int64_t window) {
  Evicted evicted;
  while (evicted.full < full) {
    const NodeId leaf = leaves_.pop([this](NodeId node) {
      return full_candidate(node) ? std::optional(EvictionKey{0, nodes_[node].facts.last_access})
                                  : std::nullopt;
    });
    if (leaf == no_node) break;
    const NodeId parent = nodes_[leaf].parent;
    evicted.full += nodes_[leaf].length;
    evicted.window += nodes_[leaf].length;
    remove(leaf);
    evicted.full += remove_tombstones(parent);
  }
  while (evicted.window < window) {
    const NodeId node = windows_.pop([this](NodeId id) {
      return window_candidate(id) ? std::optional(EvictionKey{0, at(id).last_access})
                                  : std::nullopt;
    });
    if (node == no_node) break;
    evicted.window += nodes_[node].length;
    if (!nodes_[node].childless()) {
      at(node).tombstone = true;
      window_.evictable -= nodes_[node].length;
      continue;
    }
    const NodeId parent = nodes_[node].parent;
    evicted.full += nodes_[node].length;
    remove(node);
    remove_tombstones(parent);
  }
  return evicted;
}

void WindowTree::verify() const {
  nodes_.verify();
  Pool full, window;
  for (const NodeId id : nodes_.all()) {
    const RadixNode& node = nodes_[id];
    KVSIM_CHECK(!node.childless() || !at(id).tombstone, "leaf {} is a tombstone", id);
    KVSIM_CHECK(at(id).lock_ref <= node.lock_ref, "node {} is locked for its window only", id);
    KVSIM_CHECK(!full_candidate(id) || leaves_.holds(id), "leaf {} cannot be evicted", id);
    KVSIM_CHECK(!window_candidate(id) || windows_.holds(id), "window of {} cannot go", id);
    (node.lock_ref > 0 ? full.locked : full.evictable) += node.length;
    if (!at(id).tombstone) (at(id).lock_ref > 0 ? window.locked : window.evictable) += node.length;
  }
  KVSIM_CHECK(full.evictable == full_.evictable && full.locked == full_.locked &&
                  window.evictable == window_.evictable && window.locked == window_.locked,
              "{} and {} full units, {} and {} window units; {}, {}, {} and {} counted",
              full.evictable, full.locked, window.evictable, window.locked, full_.evictable,
              full_.locked, window_.evictable, window_.locked);
}

}  // namespace kvsim::kv
