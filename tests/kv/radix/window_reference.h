#pragma once
#include <cstdint>
#include <vector>

#include "kv/radix/radix_reference.h"
#include "kv/radix/window_tree.h"

// The plainest tree of two pools: every unit of a path is looked at, every victim searched for.
namespace kvsim::kv::reference {

class Windows : public Forest {
 public:
  explicit Windows(const WindowOptions& options)
      : Forest({options.page_size, RadixEviction::lru, options.unit}), options_(options) {}

  struct Match {
    std::int64_t length = 0;
    Node* node = nullptr;
  };
  Match match(const KeyView& view) {
    Units key = cut(view);
    std::vector<Node*> path;
    for (bool whole = true; whole;) {
      Node* child = next(path.empty() ? root() : *path.back(), key);
      if (child == nullptr) break;
      const std::size_t same = walk(*child, key);
      whole = same == child->key.size();
      path.push_back(whole ? child : &halve(*child, same));
    }
    while (!path.empty() && !readable(path)) path.pop_back();
    Match found{0, &root()};
    for (Node* node : path) {
      found.length += node->size();
      found.node = node;
      use(*node);
    }
    return found;
  }
  std::int64_t insert(const KeyView& view) {
    Units key = cut(view);
    Node* at = &root();
    std::int64_t there = 0;
    while (Node* child = next(*at, key)) {
      use(*child);
      const std::size_t same = walk(*child, key);
      there += static_cast<std::int64_t>(same);
      at = same < child->key.size() ? &halve(*child, same) : child;
      if (at->tombstone) at->window_used = ++clock_;
      at->tombstone = false;
    }
    if (key.empty()) return there;
    Node& leaf = make(key, *at);
    use(leaf);
    const std::int64_t page = options_.page_size;
    const std::int64_t tail = (options_.window + page - 1) / page * page;
    if (options_.leaf_split == LeafSplit::on_insert && leaf.size() > tail)
      halve(leaf, static_cast<std::size_t>(leaf.size() - tail));
    return there;
  }
  // Locks or unlocks the path; the window part is given as the nodes' last units.
  std::int64_t lock(Node* node) {
    std::int64_t held = 0;
    for (; node->parent != nullptr; node = node->parent) {
      ++node->locks;
      if (held >= options_.window) continue;
      ++node->window_locks;
      held += node->size();
    }
    return held;
  }
  void unlock(Node* node, std::int64_t held) {
    for (; node->parent != nullptr; node = node->parent) {
      --node->locks;
      if (held > 0) --node->window_locks;
      held -= node->size();
    }
  }
  WindowTree::Evicted evict(std::int64_t full, std::int64_t window) {
    WindowTree::Evicted gone;
    while (gone.full < full) {
      Node* leaf = first([](const Node& n) { return n.locks == 0 && n.children.empty(); });
      if (leaf == nullptr) break;
      gone.window += leaf->size();
      gone.full += leaf->size() + remove(*leaf);
    }
    while (gone.window < window) {
      Node* victim = nullptr;
      for (Node& n : nodes_)
        if (n.parent != nullptr && !n.tombstone && n.window_locks == 0 &&
            (victim == nullptr || n.window_used < victim->window_used))
          victim = &n;
      if (victim == nullptr) break;
      gone.window += victim->size();
      if (victim->children.empty()) {
        gone.full += victim->size();
        remove(*victim);
      } else {
        victim->tombstone = true;
      }
    }
    return gone;
  }

 private:
  void use(Node& node) { node.used = node.window_used = ++clock_; }
  Node& halve(Node& node, std::size_t at) {
    Node& upper = split(node, at);
    use(upper);
    use(node);
    return upper;
  }
  // Whether a window of KV stands at the end of the path, or all of it from the start.
  bool readable(const std::vector<Node*>& path) const {
    std::int64_t behind = 0;
    for (auto node = path.rbegin(); node != path.rend(); ++node) {
      if ((*node)->tombstone) return false;
      behind += (*node)->size();
      if (behind >= options_.window) return true;
    }
    return true;
  }
  // Answers the units of tombstones that went along.
  std::int64_t remove(Node& leaf) {
    Node* parent = leaf.parent;
    erase(leaf);
    const bool last = parent->tombstone && parent->locks == 0 && parent->children.empty();
    if (!last) return 0;
    const std::int64_t units = parent->size();
    return units + remove(*parent);
  }

  WindowOptions options_;
};

}  // namespace kvsim::kv::reference
