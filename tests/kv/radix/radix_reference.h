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
};

class Tree {
 public:
  explicit Tree(const RadixOptions& options) : options_(options) { reset(); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

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
      const std::size_t same = common(child->key, key);
      found.length += static_cast<std::int64_t>(same);
      if (same < child->key.size()) {
        found.node = &split(*child, same);
        break;
      }
      found.node = child;
      key.erase(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(same));
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
      const std::size_t same = common(child->key, key);
      there += static_cast<std::int64_t>(same);
      key.erase(key.begin(), key.begin() + static_cast<std::ptrdiff_t>(same));
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
      Node* victim = nullptr;
      for (Node& node : nodes_)
        if (node.parent != nullptr && node.locks == 0 && node.children.empty() &&
            (victim == nullptr || rank(node) < rank(*victim)))
          victim = &node;
      if (victim == nullptr) break;
      gone += static_cast<std::int64_t>(victim->key.size());
      removed.push_back(victim->key);
      victim->parent->children.erase(page(victim->key));
      nodes_.remove_if([victim](const Node& node) { return &node == victim; });
    }
    return gone;
  }
  void reset() {
    nodes_.clear();
    nodes_.emplace_back();
  }
  std::int64_t sum(bool locked) const {
    std::int64_t units = 0;
    for (const Node& node : nodes_)
      if ((node.locks > 0) == locked) units += static_cast<std::int64_t>(node.key.size());
    return units;
  }
  std::int64_t count() const { return static_cast<std::int64_t>(nodes_.size()) - 1; }

  std::vector<Units> removed;  // by evict(), in order

 private:
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
  std::size_t common(const Units& a, const Units& b) const {
    std::size_t same = 0;
    while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
    return same - same % static_cast<std::size_t>(options_.page_size);
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
    Node& upper = make({child.key.begin(), middle}, *child.parent);
    upper.locks = child.locks;
    upper.hits = child.hits;
    upper.priority = child.priority;
    child.key.erase(child.key.begin(), middle);
    child.parent = &upper;
    upper.children[page(child.key)] = &child;
    return upper;
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

  RadixOptions options_;
  std::list<Node> nodes_;
  std::int64_t clock_ = 0;
};

}  // namespace kvsim::kv::reference
