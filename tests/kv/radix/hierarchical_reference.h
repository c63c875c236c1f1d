#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "kv/radix/hierarchical_tree.h"
#include "kv/radix/radix_reference.h"

// The plainest hierarchical tree: every question is answered by looking at all nodes.
namespace kvsim::kv::reference {

class Hierarchy : public Forest {
 public:
  explicit Hierarchy(const HierarchicalOptions& options)
      : Forest(options.radix), write_(options.write_policy), host_units_(options.host_units) {
    root().host = true;
  }

  struct Match {
    std::int64_t length = 0, host_length = 0;
    Node *node = nullptr, *host_node = nullptr;
  };
  Match match(const KeyView& view) {
    Units key = cut(view);
    Node* at = &root();
    const std::int64_t now = ++clock_;
    for (bool whole = true; whole;) {
      Node* child = next(*at, key);
      if (child == nullptr) break;
      child->used = now;
      const std::size_t same = walk(*child, key);
      whole = same == child->key.size();
      at = whole ? child : &split(*child, same);
    }
    Match found{0, 0, at, at};
    for (; !found.node->device; found.node = found.node->parent)
      found.host_length += found.node->size();
    for (Node* node = found.node; node->parent != nullptr; node = node->parent)
      found.length += node->size();
    return found;
  }
  std::int64_t insert(const KeyView& view, std::int64_t priority, InsertKind kind) {
    Units key = cut(view);
    Node* at = &root();
    std::int64_t there = 0;
    const std::int64_t now = ++clock_;
    while (Node* child = next(*at, key)) {
      child->used = now;
      const std::size_t same = walk(*child, key);
      at = same < child->key.size() ? &split(*child, same) : child;
      at->priority = std::max(at->priority, priority);
      if (at->device) {
        there += static_cast<std::int64_t>(same);
        hit(*at, kind);
      }
      at->device = true;
    }
    if (key.empty()) return there;
    Node& leaf = make(key, *at);
    leaf.priority = priority;
    hit(leaf, kind);
    return there;
  }
  void lock(Node* node, std::int64_t by) {
    for (; node->parent != nullptr; node = node->parent) node->locks += by;
  }
  std::int64_t evict(std::int64_t units) {
    std::int64_t gone = 0;
    while (gone < units) {
      Node* leaf = first([](const Node& node) {
        return node.device && !node.leaving && node.locks == 0 &&
               std::ranges::none_of(node.children, [](const auto& child) {
                 return child.second->device && !child.second->leaving;
               });
      });
      if (leaf == nullptr) break;
      gone += leaf->size();
      if (leaf->host) {
        leave(*leaf);
      } else if (write_ == HostWrite::write_back && copy(*leaf)) {
        leaf->leaving = true;
        order_.push_back(leaf);
      } else {
        finish();
        leave(*leaf);
        drop(*leaf);
      }
    }
    finish();
    return gone;
  }
  std::int64_t evict_host(std::int64_t units) {
    std::int64_t gone = 0;
    while (gone < units) {
      Node* leaf = first(
          [](const Node& node) { return !node.device && !node.loading && node.children.empty(); });
      if (leaf == nullptr) break;
      gone += leaf->size();
      left_host.push_back(leaf->key);
      erase(*leaf);
    }
    return gone;
  }
  std::int64_t load_back(Node* end, std::int64_t available, std::optional<std::int64_t> quota) {
    std::vector<Node*> path;
    std::int64_t units = 0, newly_locked = 0;
    Node* above = end;
    for (; !above->device; above = above->parent) {
      path.push_back(above);
      units += above->size();
    }
    for (Node* node = above; node->parent != nullptr; node = node->parent)
      if (node->locks == 0) newly_locked += node->size();
    if (units < 10 || (quota && units + newly_locked > *quota)) return 0;
    lock(above, 1);
    for (Node* node : path) node->loading = true;
    if (available < units) available += evict(units);
    for (Node* node : path) node->loading = false;
    lock(above, -1);
    if (available < units) return 0;
    for (Node* node : path) node->device = true;
    lock(end, 1);
    loads.push_back(end);
    return units;
  }
  void acknowledge(std::deque<Node*>& copies, std::int64_t count) {
    for (; count > 0 && !copies.empty(); --count) {
      lock(copies.front(), -1);
      copies.pop_front();
    }
  }

  std::deque<Node*> writes, loads;
  std::vector<Units> left_device, left_host, written;

 private:
  void hit(Node& node, InsertKind kind) {
    if (write_ == HostWrite::write_back || kind == InsertKind::chunk) return;
    ++node.hits;
    const std::int64_t wanted = write_ == HostWrite::write_through ? 1 : 2;
    if (node.host || node.hits < wanted || !node.parent->host || !copy(node)) return;
    writes.push_back(&node);
    lock(&node, 1);
  }
  std::int64_t host_free() const {
    return host_units_ - sum([](const Node& node) { return node.host; });
  }
  bool copy(Node& node) {
    if (host_free() < node.size()) evict_host(node.size());
    if (host_free() < node.size()) return false;
    node.host = true;
    written.push_back(node.key);
    return true;
  }
  void leave(Node& node) {
    node.device = node.leaving = false;
    left_device.push_back(node.key);
  }
  void finish() {
    for (Node* node : order_) leave(*node);
    order_.clear();
  }
  // The set of what goes is compared, so that the order of siblings does not matter.
  void drop(Node& node) {
    if (node.host) left_host.push_back(node.key);
    while (!node.children.empty()) drop(*node.children.begin()->second);
    erase(node);
  }

  HostWrite write_;
  std::int64_t host_units_;
  std::vector<Node*> order_;
};

}  // namespace kvsim::kv::reference
