#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kv/radix/radix_reference.h"
#include "kv/radix/radix_tree.h"
#include "kv/radix/random_keys.h"

// The tree against the naive one: long random histories, and every short history over a tiny world.

using namespace kvsim::kv;

namespace {

struct Removed : RadixObserver {
  void removed(const RadixNodes& nodes, NodeId node) override {
    const std::vector<TokenRun>& runs = nodes[node].runs;
    std::int64_t tokens = 0;
    for (const TokenRun& run : runs) tokens += run.length;
    keys.push_back(reference::units_of({nodes[node].extra_key, runs, tokens}, nodes.unit()));
  }
  std::vector<reference::Units> keys;
};

// Both trees, driven together.
struct Pair {
  explicit Pair(const RadixOptions& options) : fast(options), slow(options) {}

  void insert(const KeyView& key, std::int64_t priority, InsertKind kind) {
    REQUIRE(fast.insert(key, priority, kind).prefix == slow.insert(key, priority, kind));
  }
  void match(const KeyView& key, bool lock) {
    const std::int64_t peeked = fast.peek(key);
    const RadixMatch a = fast.match(key);
    const reference::Tree::Match b = slow.match(key);
    REQUIRE(a.length == b.length);
    REQUIRE(peeked == b.length);
    if (!lock) return;
    fast.lock(a.node);
    slow.lock(b.node, 1);
    locked.push_back({a.node, b.node});
  }
  void unlock(std::size_t i) {
    fast.unlock(locked[i].fast);
    slow.lock(locked[i].slow, -1);
    locked.erase(locked.begin() + static_cast<std::ptrdiff_t>(i));
  }
  void evict(std::int64_t units) {
    Removed removed;
    slow.removed.clear();
    REQUIRE(fast.evict(units, &removed) == slow.evict(units));
    REQUIRE(removed.keys == slow.removed);
  }
  void compare() {
    fast.verify();
    REQUIRE(fast.evictable() == slow.sum([](const reference::Node& n) { return n.locks == 0; }));
    REQUIRE(fast.protected_units() ==
            slow.sum([](const reference::Node& n) { return n.locks > 0; }));
    REQUIRE(fast.nodes().count() == slow.count());
  }

  RadixTree fast;
  reference::Tree slow;
  struct Locked {
    NodeId fast;
    reference::Node* slow;
  };
  std::vector<Locked> locked;
};

}  // namespace

TEST_CASE("Random histories go as in the naive tree under every policy page and unit") {
  for (const RadixEvictionRow& row : radix_evictions())
    for (const std::int64_t page : {1, 2, 4})
      for (const KeyUnit unit : {KeyUnit::token, KeyUnit::bigram}) {
        CAPTURE(row.name);
        CAPTURE(page);
        Pair pair({page, row.policy, unit});
        Dice dice{static_cast<std::uint64_t>(page) * 77 + 5};
        for (int step = 0; step < 1500; ++step) {
          CAPTURE(step);
          const RadixKey key = random_key(dice);
          switch (dice.below(12)) {
            case 0:
            case 1:
              pair.match(key.view().first(key.tokens() - 1), false);
              break;
            case 2:
            case 3:
              if (pair.locked.size() < 6) pair.match(key.view(), true);
              break;
            case 4:
            case 5:
              if (!pair.locked.empty())
                pair.unlock(static_cast<std::size_t>(
                    dice.below(static_cast<std::int64_t>(pair.locked.size()))));
              break;
            case 6:
              pair.evict(dice.below(20));
              break;
            case 7:
              pair.insert(key.view(), dice.below(3), InsertKind::chunk);
              break;
            default:
              pair.insert(key.view(), dice.below(3), InsertKind::whole);
          }
          pair.compare();
        }
      }
}

TEST_CASE("Every history of four operations on keys of up to four tokens of two kinds agrees") {
  std::vector<RadixKey> keys;
  for (std::int64_t length = 1; length <= 4; ++length)
    for (std::int64_t bits = 0; bits < (std::int64_t{1} << length); ++bits) {
      RadixKey key;
      for (std::int64_t i = 0; i < length; ++i)
        key.append({static_cast<std::uint64_t>(bits >> i & 1), 0, 1});
      keys.push_back(key);
    }
  const auto n = static_cast<std::int64_t>(keys.size());
  REQUIRE(n == 30);
  // insert a, insert b, then match, lock or evict, and at last evict what is left.
  for (std::int64_t a = 0; a < n; ++a)
    for (std::int64_t b = 0; b < n; ++b)
      for (std::int64_t c = 0; c < 2 * n + 1; ++c) {
        Pair pair({1 + (a + b + c) % 2, RadixEviction::lru, KeyUnit::token});
        pair.insert(keys[static_cast<std::size_t>(a)].view(), 0, InsertKind::whole);
        pair.insert(keys[static_cast<std::size_t>(b)].view(), 0, InsertKind::whole);
        if (c < 2 * n)
          pair.match(keys[static_cast<std::size_t>(c % n)].view(), c >= n);
        else
          pair.evict(1);
        pair.compare();
        pair.evict(1);
        pair.evict(100);
        pair.compare();
      }
}
