#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "kv/radix/radix_tree.h"

// The plainest prefix tree that follows SGLang's rules: every unit by itself, children in a map,
// leaves found by walking everything. Slow on purpose, shares no code with the real one but the
// names of the policies.
namespace kvsim::kv::reference {

using Unit = std::array<std::uint64_t, 5>;  // extra key, content, offset; bigrams: the second token
using Units = std::vector<Unit>;

inline Units units_of(const KeyView& key, KeyUnit unit) {
  Units tokens;
  for (const TokenRun& run : key.runs)
    for (std::int64_t i = 0; i < run.length; ++i)
      if (static_cast<std::int64_t>(tokens.size()) < key.tokens)
        tokens.push_back(
            {key.extra_key, run.content, static_cast<std::uint64_t>(run.offset + i), 0, 0});
  if (unit == KeyUnit::token) return tokens;
  Units pairs;
  for (std::size_t i = 1; i < tokens.size(); ++i)
    pairs.push_back(
        {tokens[i - 1][0], tokens[i - 1][1], tokens[i - 1][2], tokens[i][1], tokens[i][2]});
  return pairs;
}

struct Node {
  Units key;
  Node* parent = nullptr;
  std::map<Units, Node*> children;  // by first page
  std::int64_t locks = 0, hits = 0, priority = 0, used = 0, made = 0;
  // Hierarchical trees.
  bool device = true, host = false, leaving = false, loading = false;
  // Trees with a sliding window.
  bool tombstone = false;
  std::int64_t window_locks = 0, window_used = 0;

  std::int64_t size() const { return static_cast<std::int64_t>(key.size()); }
};

// The structure that the naive trees share.
class Forest {
 public:
  explicit Forest(const RadixOptions& options) : options_(options) { nodes_.emplace_back(); }
  Forest(const Forest&) = delete;
  Forest& operator=(const Forest&) = delete;
  std::int64_t count() const { return static_cast<std::int64_t>(nodes_.size()) - 1; }
  // Units of the nodes that `which` picks, without the root.
  template <class Which>
  std::int64_t sum(Which&& which) const {
    std::int64_t units = 0;
    for (const Node& node : nodes_)
      if (node.parent != nullptr && which(node)) units += node.size();
    return units;
  }

 protected:
  Node& root() { return nodes_.front(); }
  Units page(const Units& key) const {
    return {key.begin(), key.begin() + static_cast<std::ptrdiff_t>(options_.page_size)};
  }
  Units cut(const KeyView& view) const {
    Units key = units_of(view, options_.unit);
    key.resize(key.size() - key.size() % static_cast<std::size_t>(options_.page_size));
    return key;
  }
  Node* next(Node& at, const Units& key) const {
    if (key.empty()) return nullptr;
    const auto child = at.children.find(page(key));
    return child == at.children.end() ? nullptr : child->second;
  }
  // Takes what node and key have in common off the key and answers its length.
  std::size_t walk(const Node& node, Units& key) const {
    std::size_t same = 0;
    while (same < node.key.size() && same < key.size() && node.key[same] == key[same]) ++same;
    same -= same % static_cast<std::size_t>(options_.page_size);
    key.erase(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(same));
    return same;
  }
  Node& make(const Units& key, Node& parent) {
    Node& node = nodes_.emplace_back();
    node.key = key;
    node.parent = &parent;
    node.used = node.made = ++clock_;
    parent.children[page(key)] = &node;
    return node;
  }
  Node& split(Node& child, std::size_t at) {
    const auto middle = child.key.begin() + static_cast<std::ptrdiff_t>(at);
    Node upper = child;
    upper.key.assign(child.key.begin(), middle);
    upper.used = upper.made = ++clock_;
    child.key.erase(child.key.begin(), middle);
    upper.children = {{page(child.key), &child}};
    Node& placed = nodes_.emplace_back(upper);
    child.parent->children[page(placed.key)] = &placed;
    child.parent = &placed;
    return placed;
  }
  void erase(Node& node) {
    node.parent->children.erase(page(node.key));
    nodes_.remove_if([&node](const Node& other) { return &other == &node; });
  }
  std::array<std::int64_t, 2> rank(const Node& node) const {
    switch (options_.policy) {
      case RadixEviction::lru:
        return {0, node.used};
      case RadixEviction::lfu:
        return {node.hits, node.used};
      case RadixEviction::slru:
        return {node.hits < 2 ? 0 : 1, node.used};
      case RadixEviction::priority:
        return {node.priority, node.used};
      case RadixEviction::fifo:
        return {0, node.made};
      case RadixEviction::filo:
        return {0, -node.made};
      case RadixEviction::mru:
        return {0, -node.used};
    }
    return {};
  }
  // The first in the order of eviction among those that `which` picks.
  template <class Which>
  Node* first(Which&& which) {
    Node* least = nullptr;
    for (Node& node : nodes_)
      if (node.parent != nullptr && which(node) && (least == nullptr || rank(node) < rank(*least)))
        least = &node;
    return least;
  }

  RadixOptions options_;
  std::list<Node> nodes_;
  std::int64_t clock_ = 0;
};

class Tree : public Forest {
 public:
  using Forest::Forest;

  struct Match {
    std::int64_t length = 0;
    Node* node = nullptr;
  };
  Match match(const KeyView& view) {
    Units key = cut(view);
    Match found{0, &root()};
    const std::int64_t now = ++clock_;
    while (Node* child = next(*found.node, key)) {
      child->used = now;
      const std::size_t same = walk(*child, key);
      found.length += static_cast<std::int64_t>(same);
      const bool whole = same == child->key.size();
      found.node = whole ? child : &split(*child, same);
      if (!whole) break;
    }
    return found;
  }
  std::int64_t insert(const KeyView& view, std::int64_t priority, InsertKind kind) {
    Units key = cut(view);
    Node* at = &root();
    std::int64_t there = 0;
    const std::int64_t now = ++clock_;
    const std::int64_t hit = kind == InsertKind::whole ? 1 : 0;
    while (Node* child = next(*at, key)) {
      child->used = now;
      const std::size_t same = walk(*child, key);
      there += static_cast<std::int64_t>(same);
      at = same < child->key.size() ? &split(*child, same) : child;
      at->priority = std::max(at->priority, priority);
      at->hits += hit;
    }
    if (key.empty()) return there;
    Node& leaf = make(key, *at);
    leaf.priority = priority;
    leaf.hits = hit;
    return there;
  }
  void lock(Node* node, std::int64_t by) {
    for (; node->parent != nullptr; node = node->parent) node->locks += by;
  }
  std::int64_t evict(std::int64_t units) {
    std::int64_t gone = 0;
    while (gone < units) {
      Node* victim =
          first([](const Node& node) { return node.locks == 0 && node.children.empty(); });
      if (victim == nullptr) break;
      gone += victim->size();
      removed.push_back(victim->key);
      erase(*victim);
    }
    return gone;
  }

  std::vector<Units> removed;  // by evict(), in order
};

}  // namespace kvsim::kv::reference
