#include "kv/radix/radix_nodes.h"

#include <algorithm>
#include <utility>

#include "diag/check.h"
#include "kv/run_hash.h"

namespace kvsim::kv {
namespace {

constexpr std::size_t smallest_index = 16;

std::uint32_t tag_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash); }

}  // namespace

RadixNodes::RadixNodes(std::int64_t page_size, KeyUnit unit) : page_(page_size), unit_(unit) {
  KVSIM_CHECK(page_size > 0, "a page of {} tokens", page_size);
  clear();
}

void RadixNodes::clear() {
  nodes_.clear();
  unused_.clear();
  nodes_.emplace_back();
  nodes_[0].lock_ref = 1;
  index_.assign(smallest_index, Slot{});
  mask_ = smallest_index - 1;
  count_ = 0;
}

KeyCursor RadixNodes::cursor(const KeyView& key) const {
  const std::int64_t units = key.tokens - overlap();
  return {key.extra_key, {key.runs, 0, 0}, units > 0 ? units / page_ * page_ : 0};
}

std::uint64_t RadixNodes::child_hash(NodeId parent, std::uint64_t extra_key,
                                     const RunCursor& at) const {
  return hash_tokens(at, page_ + overlap(),
                     fold(extra_key, static_cast<std::uint64_t>(parent) + 1));
}

NodeId RadixNodes::find_child(NodeId parent, const KeyCursor& key) const {
  if (key.left == 0) return no_node;
  const std::int64_t page = page_ + overlap();
  const std::uint64_t hash = child_hash(parent, key.extra_key, key.at);
  for (std::size_t i = tag_of(hash) & mask_; index_[i].node != no_node; i = (i + 1) & mask_) {
    if (index_[i].tag != tag_of(hash)) continue;
    const RadixNode& node = (*this)[index_[i].node];
    if (node.hash == hash && node.parent == parent && node.extra_key == key.extra_key &&
        common_tokens({node.runs, 0, 0}, key.at, page) == page)
      return index_[i].node;
  }
  return no_node;
}

std::int64_t RadixNodes::common(NodeId id, const KeyCursor& key) const {
  const RadixNode& node = (*this)[id];
  const std::int64_t limit = std::min(node.length, key.left) + overlap();
  const std::int64_t units = common_tokens({node.runs, 0, 0}, key.at, limit) - overlap();
  return units > 0 ? units / page_ * page_ : 0;
}

NodeId RadixNodes::take() {
  ++count_;
  if (unused_.empty()) {
    nodes_.emplace_back();
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  const NodeId id = unused_.back();
  unused_.pop_back();
  std::vector<TokenRun> runs = std::move((*this)[id].runs);
  (*this)[id] = RadixNode{};
  (*this)[id].runs = std::move(runs);
  return id;
}

void RadixNodes::link_last(NodeId parent, NodeId id) {
  RadixNode& above = (*this)[parent];
  RadixNode& node = (*this)[id];
  node.parent = parent;
  node.previous = above.last_child;
  if (above.last_child == no_node)
    above.first_child = id;
  else
    (*this)[above.last_child].next = id;
  above.last_child = id;
}

NodeId RadixNodes::add(NodeId parent, const KeyCursor& key, std::int64_t priority) {
  const NodeId id = take();
  RadixNode& node = (*this)[id];
  copy_tokens(key.at, key.left + overlap(), node.runs);
  node.length = key.left;
  node.extra_key = key.extra_key;
  node.facts.priority = priority;
  node.facts.last_access = node.facts.creation = tick();
  node.hash = child_hash(parent, key.extra_key, key.at);
  link_last(parent, id);
  index_add(id);
  return id;
}

NodeId RadixNodes::split(NodeId id, std::int64_t units) {
  const NodeId upper_id = take();
  RadixNode& upper = (*this)[upper_id];
  RadixNode& node = (*this)[id];
  KVSIM_CHECK(units > 0 && units < node.length, "a node of {} split at {}", node.length, units);
  RunCursor cut{node.runs, 0, 0};
  copy_tokens(cut, units + overlap(), upper.runs);
  cut.advance(units);
  std::vector<TokenRun> rest;
  copy_tokens(cut, node.length - units + overlap(), rest);

  upper.length = units;
  upper.facts = node.facts;
  upper.facts.last_access = upper.facts.creation = tick();
  upper.extra_key = node.extra_key;
  upper.hash = node.hash;
  upper.lock_ref = node.lock_ref;
  upper.parent = node.parent;
  upper.previous = node.previous;
  upper.next = node.next;
  index_[index_place(id)].node = upper_id;
  RadixNode& above = (*this)[upper.parent];
  (upper.previous == no_node ? above.first_child : (*this)[upper.previous].next) = upper_id;
  (upper.next == no_node ? above.last_child : (*this)[upper.next].previous) = upper_id;

  node.runs = std::move(rest);
  node.length -= units;
  node.previous = node.next = no_node;
  link_last(upper_id, id);
  node.hash = child_hash(upper_id, node.extra_key, {node.runs, 0, 0});
  index_add(id);
  return upper_id;
}

void RadixNodes::remove(NodeId id) {
  RadixNode& node = (*this)[id];
  KVSIM_CHECK(id != root_node && node.childless(), "node {} is no leaf", id);
  index_remove(id);
  RadixNode& above = (*this)[node.parent];
  (node.previous == no_node ? above.first_child : (*this)[node.previous].next) = node.next;
  (node.next == no_node ? above.last_child : (*this)[node.next].previous) = node.previous;
  node.runs.clear();
  node.length = 0;
  node.parent = no_node;
  unused_.push_back(id);
  --count_;
}

void RadixNodes::index_add(NodeId id) {
  if (static_cast<std::size_t>(count_ + 1) * 2 > index_.size()) grow_index();
  const std::uint32_t tag = tag_of((*this)[id].hash);
  std::size_t i = tag & mask_;
  while (index_[i].node != no_node) i = (i + 1) & mask_;
  index_[i] = {tag, id};
}

std::size_t RadixNodes::index_place(NodeId id) const {
  std::size_t i = tag_of((*this)[id].hash) & mask_;
  while (index_[i].node != id) {
    KVSIM_CHECK(index_[i].node != no_node, "node {} is not in the index", id);
    i = (i + 1) & mask_;
  }
  return i;
}

void RadixNodes::index_remove(NodeId id) {
  std::size_t hole = index_place(id);
  // Entries behind the hole move up, unless that would put them before their own place.
  for (std::size_t i = (hole + 1) & mask_; index_[i].node != no_node; i = (i + 1) & mask_) {
    const std::size_t home = index_[i].tag & mask_;
    if (((i - home) & mask_) < ((i - hole) & mask_)) continue;
    index_[hole] = index_[i];
    hole = i;
  }
  index_[hole] = Slot{};
}

void RadixNodes::grow_index() {
  std::vector<Slot> old(index_.size() * 2);
  old.swap(index_);
  mask_ = index_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.node == no_node) continue;
    std::size_t i = slot.tag & mask_;
    while (index_[i].node != no_node) i = (i + 1) & mask_;
    index_[i] = slot;
  }
}

std::vector<NodeId> RadixNodes::all() const {
  std::vector<NodeId> order{root_node};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (NodeId c = (*this)[order[i]].first_child; c != no_node; c = (*this)[c].next)
      order.push_back(c);
  order.erase(order.begin());
  return order;
}

std::vector<TokenRun> RadixNodes::tokens(NodeId id) const {
  std::vector<TokenRun> out;
  copy_tokens({(*this)[id].runs, 0, 0}, (*this)[id].length, out);
  return out;
}

void RadixNodes::verify() const {
  const std::vector<NodeId> order = all();
  KVSIM_CHECK(static_cast<std::int64_t>(order.size()) == count_, "{} nodes linked, {} counted",
              order.size(), count_);
  for (const NodeId id : order) {
    const RadixNode& node = (*this)[id];
    std::int64_t tokens = -overlap();
    for (const TokenRun& run : node.runs) tokens += run.length;
    KVSIM_CHECK(tokens == node.length && node.length > 0 && node.length % page_ == 0,
                "node {} holds {} units, its runs {}", id, node.length, tokens);
    KVSIM_CHECK(node.lock_ref >= 0 &&
                    (node.parent == root_node || (*this)[node.parent].lock_ref >= node.lock_ref),
                "node {} is locked {} times, more than its parent", id, node.lock_ref);
    KVSIM_CHECK(node.hash == child_hash(node.parent, node.extra_key, {node.runs, 0, 0}),
                "node {} has the hash of another place", id);
    index_place(id);
  }
}

}  // namespace kvsim::kv
