#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kv/radix/hierarchical_reference.h"
#include "kv/radix/random_keys.h"
#include "kv/radix/window_reference.h"

// The hierarchical and the sliding-window tree against naive ones, on random histories.

using namespace kvsim::kv;

namespace {

struct Moves : HierarchyObserver {
  void left_device(const RadixNodes& n, NodeId id) override { device.push_back(units(n, id)); }
  void left_host(const RadixNodes& n, NodeId id) override { host.push_back(units(n, id)); }
  void written(const RadixNodes& n, NodeId id) override { copied.push_back(units(n, id)); }
  static reference::Units units(const RadixNodes& nodes, NodeId id) {
    return reference::units_of({nodes[id].extra_key, nodes[id].runs, nodes[id].length},
                               nodes.unit());
  }
  void clear() {
    device.clear();
    host.clear();
    copied.clear();
  }
  std::vector<reference::Units> device, host, copied;
};

std::vector<reference::Units> sorted(std::vector<reference::Units> list) {
  std::ranges::sort(list);
  return list;
}

// Both hierarchical trees behind a device pool of 150 slots.
struct Hierarchies {
  explicit Hierarchies(const HierarchicalOptions& options) : fast(options, &moves), slow(options) {}

  void step(Dice& dice) {
    moves.clear();
    slow.left_device.clear();
    slow.left_host.clear();
    slow.written.clear();
    if (known.size() < 12 || dice.below(4) == 0) known.push_back(random_key(dice, 20));
    const RadixKey& whole =
        known[known.size() - 1 - static_cast<std::size_t>(dice.below(12)) % known.size()];
    const KeyView key = whole.view().first(dice.below(3) == 0 ? dice.below(40) : 100);
    std::int64_t roll = 0;
    switch (dice.below(15)) {
      case 0:
        match(key);
        break;
      case 1:
        lock(key);
        break;
      case 2:
      case 3:
        if (!locked.empty()) unlock(static_cast<std::size_t>(dice.below(size())));
        break;
      case 4:
      case 5:
        evict(dice.below(100));
        break;
      case 6:
        roll = dice.below(10);
        REQUIRE(fast.evict_host(roll) == slow.evict_host(roll));
        break;
      case 7:
        roll = dice.below(12);
        fast.ack_writes(roll);
        slow.acknowledge(slow.writes, roll);
        break;
      case 8:
        roll = dice.below(3);
        fast.ack_loads(roll);
        slow.acknowledge(slow.loads, roll);
        break;
      case 9:
      case 10:
        load(key, dice);
        break;
      default:
        insert(key, dice);
    }
    compare();
  }

  void match(const KeyView& key) {
    const HierarchicalMatch a = fast.match(key);
    const reference::Hierarchy::Match b = slow.match(key);
    REQUIRE(a.length == b.length);
    REQUIRE(a.host_length == b.host_length);
    node = a;
    slow_node = b;
  }
  void lock(const KeyView& key) {
    match(key);
    if (locked.size() >= 2) return;
    fast.lock(node.node);
    slow.lock(slow_node.node, 1);
    locked.push_back({node.node, slow_node.node});
  }
  void unlock(std::size_t i) {
    fast.unlock(locked[i].fast);
    slow.lock(locked[i].slow, -1);
    locked.erase(locked.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void evict(std::int64_t units) { REQUIRE(fast.evict(units) == slow.evict(units)); }
  void insert(const KeyView& key, Dice& dice) {
    const std::int64_t need = fast.nodes().cursor(key).left;
    if (available() < need) evict(need - available());
    const std::int64_t priority = dice.below(3);
    const InsertKind kind = dice.below(4) == 0 ? InsertKind::chunk : InsertKind::whole;
    if (available() < need) return;
    REQUIRE(fast.insert(key, priority, kind).prefix == slow.insert(key, priority, kind));
  }
  void load(const KeyView& key, Dice& dice) {
    match(key);
    const std::optional<std::int64_t> quota =
        dice.below(2) == 0 ? std::nullopt : std::optional(dice.below(40));
    const std::int64_t slots = available();
    const HierarchicalTree::Loaded a = fast.load_back(node.host_node, slots, quota);
    REQUIRE(a.loaded == slow.load_back(slow_node.host_node, slots, quota));
    loads += a.loaded > 0 ? 1 : 0;
  }
  void compare() const {
    using reference::Node;
    fast.verify();
    REQUIRE(fast.nodes().count() == slow.count());
    REQUIRE(fast.evictable() == slow.sum([](const Node& n) { return n.device && n.locks == 0; }));
    REQUIRE(fast.protected_units() == slow.sum([](const Node& n) { return n.locks > 0; }));
    REQUIRE(fast.host_used() == slow.sum([](const Node& n) { return n.host; }));
    REQUIRE(fast.pending_writes() == static_cast<std::int64_t>(slow.writes.size()));
    REQUIRE(fast.pending_loads() == static_cast<std::int64_t>(slow.loads.size()));
    REQUIRE(moves.device == slow.left_device);
    REQUIRE(moves.copied == slow.written);
    REQUIRE(sorted(moves.host) == sorted(slow.left_host));
  }
  std::int64_t available() const { return 150 - fast.total(); }
  std::int64_t size() const { return static_cast<std::int64_t>(locked.size()); }

  Moves moves;
  HierarchicalTree fast;
  reference::Hierarchy slow;
  struct Locked {
    NodeId fast;
    reference::Node* slow;
  };
  std::vector<Locked> locked;
  HierarchicalMatch node;
  reference::Hierarchy::Match slow_node;
  std::vector<RadixKey> known;
  std::int64_t loads = 0;
};

}  // namespace

TEST_CASE("Random hierarchical histories go as in the naive tree under every policy") {
  std::int64_t loads = 0;
  for (const HostWriteRow& write : host_writes())
    for (const RadixEvictionRow& order : radix_evictions())
      for (const std::int64_t page : {1, 2}) {
        CAPTURE(write.name);
        CAPTURE(order.name);
        CAPTURE(page);
        Hierarchies trees({{page, order.policy, KeyUnit::token}, write.policy, 100});
        Dice dice{static_cast<std::uint64_t>(page) * 31 + 7};
        for (int step = 0; step < 1500; ++step) {
          CAPTURE(step);
          trees.step(dice);
        }
        loads += trees.loads;
      }
  CHECK(loads > 300);
}

TEST_CASE("Random histories with a sliding window go as in the naive tree") {
  for (const std::int64_t page : {1, 2, 4})
    for (const std::int64_t window : {1, 3, 8, 100})
      for (const LeafSplit split : {LeafSplit::off, LeafSplit::on_insert}) {
        CAPTURE(page);
        CAPTURE(window);
        const WindowOptions options{page, window, split, KeyUnit::token};
        WindowTree fast(options);
        reference::Windows slow(options);
        struct Held {
          WindowLock fast;
          reference::Node* node;
          std::int64_t slow;
        };
        std::vector<Held> held;
        Dice dice{static_cast<std::uint64_t>(page * 100 + window)};
        for (int step = 0; step < 1500; ++step) {
          CAPTURE(step);
          const RadixKey key = random_key(dice);
          const std::int64_t what = dice.below(8);
          if (what < 3) {
            REQUIRE(fast.insert(key.view()) == slow.insert(key.view()));
          } else if (what < 5) {
            const WindowTree::Match a = fast.match(key.view());
            const reference::Windows::Match b = slow.match(key.view());
            REQUIRE(a.length == b.length);
            if (what == 4 && held.size() < 4)
              held.push_back({fast.lock(a.node), b.node, slow.lock(b.node)});
          } else if (what < 7 && !held.empty()) {
            const auto i = dice.below(static_cast<std::int64_t>(held.size()));
            const auto at = held.begin() + i;
            fast.unlock(at->fast);
            slow.unlock(at->node, at->slow);
            held.erase(at);
          } else {
            const std::int64_t full = dice.below(2) * dice.below(20), part = dice.below(20);
            const WindowTree::Evicted a = fast.evict(full, part), b = slow.evict(full, part);
            REQUIRE(a.full == b.full);
            REQUIRE(a.window == b.window);
          }
          fast.verify();
          using reference::Node;
          REQUIRE(fast.nodes().count() == slow.count());
          REQUIRE(fast.full().locked == slow.sum([](const Node& n) { return n.locks > 0; }));
          REQUIRE(fast.full().used() == slow.sum([](const Node&) { return true; }));
          REQUIRE(fast.window().locked ==
                  slow.sum([](const Node& n) { return n.window_locks > 0; }));
          REQUIRE(fast.window().used() == slow.sum([](const Node& n) { return !n.tombstone; }));
        }
      }
}
