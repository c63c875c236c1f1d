#include "kv/radix/radix_tree.h"

#include <algorithm>
#include <optional>

#include "diag/check.h"

namespace kvsim::kv {

RadixTree::RadixTree(const RadixOptions& options)
    : policy_(options.policy), nodes_(options.page_size, options.unit) {}

void RadixTree::visit(NodeId node, std::int64_t now) {
  nodes_[node].facts.last_access = now;
  if (use_moves_forward(policy_) && leaves_.holds(node)) leaves_.offer(node, key_of(node));
}

RadixMatch RadixTree::match(const KeyView& key) {
  const std::int64_t now = nodes_.tick();
  KeyCursor rest = nodes_.cursor(key);
  RadixMatch found;
  for (NodeId child = nodes_.find_child(root_node, rest); child != no_node;
       child = nodes_.find_child(found.node, rest)) {
    visit(child, now);
    const std::int64_t common = nodes_.common(child, rest);
    found.length += common;
    if (common < nodes_[child].length) {
      found.node = nodes_.split(child, common);
      break;
    }
    found.node = child;
    rest.advance(common);
  }
  return found;
}

std::int64_t RadixTree::peek(const KeyView& key) const {
  KeyCursor rest = nodes_.cursor(key);
  std::int64_t length = 0;
  for (NodeId child = nodes_.find_child(root_node, rest); child != no_node;
       child = nodes_.find_child(child, rest)) {
    const std::int64_t common = nodes_.common(child, rest);
    length += common;
    if (common < nodes_[child].length) break;
    rest.advance(common);
  }
  return length;
}

RadixInsert RadixTree::insert(const KeyView& key, std::int64_t priority, InsertKind kind) {
  const std::int64_t now = nodes_.tick();
  const std::int64_t hits = kind == InsertKind::whole ? 1 : 0;
  KeyCursor rest = nodes_.cursor(key);
  RadixInsert done;
  for (NodeId child = nodes_.find_child(root_node, rest); child != no_node;
       child = nodes_.find_child(done.node, rest)) {
    visit(child, now);
    const std::int64_t common = nodes_.common(child, rest);
    done.prefix += common;
    rest.advance(common);
    done.node = common < nodes_[child].length ? nodes_.split(child, common) : child;
    EvictionFacts& facts = nodes_[done.node].facts;
    facts.priority = std::max(facts.priority, priority);
    facts.hit_count += hits;
  }
  if (rest.left == 0) return done;
  done.node = nodes_.add(done.node, rest, priority);
  nodes_[done.node].facts.hit_count = hits;
  balance_.evictable += rest.left;
  leaves_.offer(done.node, key_of(done.node));
  return done;
}

void RadixTree::lock(NodeId node) { balance_.lock(nodes_, node); }

void RadixTree::unlock(NodeId node) {
  balance_.unlock(nodes_, node, [this](NodeId freed) {
    if (nodes_[freed].childless()) leaves_.offer(freed, key_of(freed));
  });
}

std::int64_t RadixTree::evict(std::int64_t units, RadixObserver* observer) {
  std::int64_t evicted = 0;
  while (evicted < units) {
    const NodeId leaf = leaves_.pop([this](NodeId node) {
      return candidate(node) ? std::optional(key_of(node)) : std::nullopt;
    });
    if (leaf == no_node) break;
    if (observer != nullptr) observer->removed(nodes_, leaf);
    evicted += nodes_[leaf].length;
    balance_.evictable -= nodes_[leaf].length;
    const NodeId parent = nodes_[leaf].parent;
    nodes_.remove(leaf);
    if (candidate(parent)) leaves_.offer(parent, key_of(parent));
  }
  return evicted;
}

void RadixTree::reset() {
  nodes_.clear();
  leaves_.clear();
  balance_ = {};
}

void RadixTree::verify() const {
  nodes_.verify();
  std::int64_t locked = 0, unlocked = 0;
  for (const NodeId id : nodes_.all()) {
    (nodes_[id].lock_ref > 0 ? locked : unlocked) += nodes_[id].length;
    KVSIM_CHECK(!candidate(id) || leaves_.holds(id), "leaf {} cannot be evicted", id);
  }
  KVSIM_CHECK(locked == balance_.locked && unlocked == balance_.evictable,
              "{} locked and {} unlocked units, {} and {} counted", locked, unlocked,
              balance_.locked, balance_.evictable);
}

}  // namespace kvsim::kv
