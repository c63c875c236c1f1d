#include "kv/radix/radix_tree.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "diag/check.h"
#include "kv/radix/radix_keys.h"

// The golden sequences of the plain tree, numbered as in the reference text (R01 to R35).

using namespace kvsim;
using namespace kvsim::kv;

namespace {

struct World {
  explicit World(std::int64_t page = 1, RadixEviction policy = RadixEviction::lru,
                 KeyUnit unit = KeyUnit::token)
      : tree({page, policy, unit}) {}
  std::int64_t insert(const RadixKey& key, std::int64_t priority = 0) {
    return tree.insert(key.view(), priority).prefix;
  }
  std::int64_t match(const RadixKey& key) {
    const std::int64_t peeked = tree.peek(key.view());
    const std::int64_t found = tree.match(key.view()).length;
    tree.verify();
    CHECK(peeked == found);
    return found;
  }
  RadixTree tree;
};

struct Removed : RadixObserver {
  void removed(const RadixNodes& nodes, NodeId node) override {
    for (const TokenRun& run : nodes.tokens(node)) {
      text += '[';
      for (std::int64_t i = 0; i < run.length; ++i)
        text += (i == 0 ? "" : " ") + std::to_string(run.offset + i);
      text += ']';
    }
  }
  std::string text;
};

}  // namespace

TEST_CASE("An empty tree matches nothing and an inserted key matches itself") {
  World w;  // R01, R02
  CHECK(w.match(key_of({1, 2, 3})) == 0);
  CHECK(w.insert(key_of({1, 2, 3})) == 0);
  CHECK(w.tree.total() == 3);
  CHECK(w.tree.evictable() == 3);
  CHECK(w.tree.protected_units() == 0);
  CHECK(w.match(key_of({1, 2, 3})) == 3);
}

TEST_CASE("A match that ends inside a node splits it") {
  World w;  // R03
  w.insert(key_of({1, 2, 3}));
  CHECK(w.match(key_of({1, 2})) == 2);
  CHECK(w.tree.nodes().count() == 2);
  CHECK(w.tree.total() == 3);
}

TEST_CASE("A repeated insert finds everything and counts a hit but that of a chunk does not") {
  World w;  // R04
  CHECK(w.insert(key_of({1, 2, 3})) == 0);
  const RadixInsert again = w.tree.insert(key_of({1, 2, 3}).view());
  CHECK(again.prefix == 3);
  CHECK(w.tree.total() == 3);
  CHECK(w.tree.nodes()[again.node].facts.hit_count == 2);
  w.tree.insert(key_of({1, 2, 3}).view(), 0, InsertKind::chunk);
  CHECK(w.tree.nodes()[again.node].facts.hit_count == 2);
}

TEST_CASE("Inserts answer the prefix that is there and split at the first difference") {
  World w;  // R05, KV-17 a
  CHECK(w.insert(key_of({1, 2, 3})) == 0);
  CHECK(w.insert(key_of({1, 2, 3})) == 3);
  CHECK(w.insert(key_of({1, 2, 4, 5})) == 2);
  CHECK(w.insert(key_of({1, 2, 4, 5, 6, 7})) == 4);
  CHECK(w.insert(key_of({8, 9, 10, 11, 12})) == 0);
  CHECK(w.tree.total() == 12);
  CHECK(w.tree.nodes().count() == 5);
  CHECK(w.match(key_of({1, 2, 3, 13, 14})) == 3);
}

TEST_CASE("Extra keys share nothing") {
  World w;  // R07
  for (const std::uint64_t extra : {1U, 2U, 0U}) CHECK(w.insert(key_of({1, 2, 3}, extra)) == 0);
  CHECK(w.tree.total() == 9);
  for (const std::uint64_t extra : {1U, 2U, 0U}) CHECK(w.match(key_of({1, 2, 3}, extra)) == 3);
  CHECK(w.match(key_of({1, 2, 3}, 4)) == 0);
}

TEST_CASE("A locked node stays and an unlocked one leaves as a whole") {
  World w;  // R08
  w.insert(key_of({1, 2, 3}));
  const NodeId node = w.tree.match(key_of({1, 2, 3}).view()).node;
  w.tree.lock(node);
  CHECK(w.tree.evictable() == 0);
  CHECK(w.tree.protected_units() == 3);
  CHECK(w.tree.evict(3) == 0);
  w.tree.unlock(node);
  CHECK(w.tree.evict(1) == 3);
  CHECK_THROWS_AS(w.tree.unlock(w.tree.insert(key_of({5}).view()).node), InternalError);
}

TEST_CASE("A lock protects the whole path and nothing beside it") {
  World w;  // R09, KV-18 a
  w.insert(key_of({1, 2, 3, 4}));
  w.insert(key_of({1, 2, 5, 6}));
  const NodeId node = w.tree.match(key_of({1, 2, 3, 4}).view()).node;
  w.tree.lock(node);
  CHECK(w.tree.protected_units() == 4);
  CHECK(w.tree.evictable() == 2);
  CHECK(w.tree.evict(10) == 2);
  CHECK(w.match(key_of({1, 2, 5, 6})) == 2);
  CHECK(w.match(key_of({1, 2, 3, 4})) == 4);
  w.tree.unlock(node);
  CHECK(w.tree.protected_units() == 0);
  CHECK(w.tree.evictable() == 4);
  CHECK(w.tree.evict(10) == 4);
  CHECK(w.tree.total() == 0);
}

TEST_CASE("Splitting a locked node keeps both parts locked and its handle at the end") {
  World w;
  const NodeId node = w.tree.insert(key_from(1, 8).view()).node;
  w.tree.lock(node);
  CHECK(w.match(key_from(1, 5)) == 5);
  CHECK(w.tree.protected_units() == 8);
  CHECK(w.tree.nodes()[node].length == 3);
  CHECK(w.tree.evict(100) == 0);
  w.tree.unlock(node);
  CHECK(w.tree.evict(100) == 8);
}

TEST_CASE("The leaf that was used longest ago goes first and a match is a use") {
  World w;  // R10
  w.insert(key_of({1, 2}));
  w.insert(key_of({3, 4}));
  CHECK(w.tree.evict(2) == 2);
  CHECK(w.match(key_of({1, 2})) == 0);
  CHECK(w.match(key_of({3, 4})) == 2);
  World x;  // R11, KV-18 c
  x.insert(key_of({1, 2}));
  x.insert(key_of({3, 4}));
  x.match(key_of({1, 2}));
  Removed gone;
  CHECK(x.tree.evict(2, &gone) == 2);
  CHECK(gone.text == "[3 4]");
}

TEST_CASE("Eviction takes whole nodes and climbs to parents that became leaves") {
  World w;  // R12
  w.insert(key_from(1, 8));
  CHECK(w.tree.evict(3) == 8);
  for (const bool at_once : {false, true}) {  // R13, KV-17 b
    World x;
    CHECK(x.insert(key_from(1, 4)) == 0);
    CHECK(x.insert(key_from(1, 6)) == 4);
    Removed gone;
    if (at_once) {
      CHECK(x.tree.evict(3, &gone) == 6);
    } else {
      CHECK(x.tree.evict(2, &gone) == 2);
      CHECK(x.tree.evict(3, &gone) == 4);
    }
    CHECK(gone.text == "[5 6][1 2 3 4]");
    x.tree.verify();
  }
}

TEST_CASE("Pages of one and of two tokens agree where prefixes end on pages") {
  for (const std::int64_t page : {1, 2}) {  // R14, KV-17 c
    World w(page);
    CHECK(w.insert(key_from(1, 8)) == 0);
    CHECK(w.insert(key_of({1, 2, 9, 10})) == 2);
    CHECK(w.match(key_of({1, 2, 3, 4, 999, 1000})) == 4);
    CHECK(w.match(key_from(1, 8)) == 8);
    CHECK(w.match(key_of({1, 2, 3, 4, 5, 6, 777, 888})) == 6);
    CHECK(w.match(key_of({1, 2, 9, 10})) == 4);
    CHECK(w.tree.total() == 10);
    CHECK(w.tree.nodes().count() == 5);
  }
}

TEST_CASE("Only whole pages are stored and matched") {
  World w(4);  // R15
  w.insert(key_from(0, 5));
  CHECK(w.tree.total() == 4);
  CHECK(w.match(key_from(0, 5)) == 4);
  World x(2);
  x.insert(key_from(0, 4));
  CHECK(x.match(key_from(0, 4)) == 4);
  World y(4);  // R16, R17, KV-19 a
  y.insert(key_from(1, 8));
  CHECK(y.match(key_from(1, 6)) == 4);
  CHECK(y.match(key_from(1, 3)) == 0);
  CHECK(y.match(key_of({1, 2, 3, 4, 9, 9, 9, 9})) == 4);
  CHECK(y.match(key_of({9, 2, 3, 4})) == 0);
  CHECK(y.insert(key_of({1, 2, 3, 4, 5, 6, 90, 91})) == 4);
  CHECK(y.tree.total() == 12);
}

TEST_CASE("A repeated prompt computes its last page again") {
  const auto hit = [](std::int64_t page) {  // R18, KV-19 b
    World w(page);
    w.insert(key_from(1, 8));
    return w.tree.match(key_from(1, 8).view().first(7)).length;
  };
  CHECK(hit(1) == 7);
  CHECK(hit(4) == 4);
  CHECK(hit(8) == 0);
}

TEST_CASE("A finished request leaves the whole pages of its computed tokens") {
  World w;  // R19, KV-19 c: prompt 6, outputs 3, the last one has no KV
  w.tree.insert(key_from(1, 9).view().first(8));
  CHECK(w.tree.total() == 8);
  World x(4);  // R20
  x.insert(key_from(1, 10));
  CHECK(x.tree.total() == 8);
}

TEST_CASE("The priority policy evicts low priorities first and a path takes the highest") {
  World w(1, RadixEviction::priority);  // R21
  w.insert(key_of({1, 2}), 10);
  w.insert(key_of({3, 4}), 0);
  CHECK(w.tree.evict(2) == 2);
  CHECK(w.match(key_of({3, 4})) == 0);
  CHECK(w.match(key_of({1, 2})) == 2);
  World x;  // R22
  x.insert(key_of({1, 2}), 5);
  const NodeId end = x.tree.insert(key_from(1, 4).view(), 9).node;
  CHECK(x.tree.nodes()[end].facts.priority == 9);
  CHECK(x.tree.nodes()[x.tree.nodes()[end].parent].facts.priority == 9);
}

TEST_CASE("lfu evicts what was inserted least often") {
  World w(1, RadixEviction::lfu);  // R23
  for (int i = 0; i < 3; ++i) w.insert(key_of({1, 2}));
  w.insert(key_of({7, 8}));
  Removed gone;
  w.tree.evict(2, &gone);
  CHECK(gone.text == "[7 8]");
}

TEST_CASE("slru protects nodes from their second insert on") {
  const auto rank = [](std::int64_t hits, std::int64_t time) {  // R24
    return eviction_key(RadixEviction::slru, {time, 0, hits, 0});
  };
  CHECK(rank(0, 2) < rank(0, 10));
  CHECK(rank(0, 10) < rank(5, 1));
  CHECK(rank(5, 1) < rank(3, 8));
  World w(1, RadixEviction::slru);  // R25
  for (int i = 0; i < 3; ++i) w.insert(key_of({1, 2}));
  w.insert(key_of({5, 6}));
  for (const std::int64_t token : {10, 20, 30, 40, 30, 50, 60, 70}) w.insert(key_of({token}));
  CHECK(w.tree.total() == 11);
  Removed gone;
  CHECK(w.tree.evict(4, &gone) == 4);
  CHECK(gone.text == "[5 6][10][20]");
  CHECK(w.match(key_of({1, 2})) == 2);
  CHECK(w.match(key_of({5, 6})) == 0);
  CHECK(w.tree.total() == 7);
}

TEST_CASE("lru fifo filo and mru each take another of three leaves") {
  const auto first = [](RadixEviction policy) {  // R26
    World w(1, policy);
    w.insert(key_of({10, 11}));
    w.insert(key_of({20, 21}));
    w.insert(key_of({30, 31}));
    w.match(key_of({10, 11}));
    Removed gone;
    w.tree.evict(2, &gone);
    return gone.text;
  };
  CHECK(first(RadixEviction::lru) == "[20 21]");
  CHECK(first(RadixEviction::fifo) == "[10 11]");
  CHECK(first(RadixEviction::filo) == "[30 31]");
  CHECK(first(RadixEviction::mru) == "[10 11]");
}

TEST_CASE("Matches inside pages of two tokens round down and eviction counts whole nodes") {
  World w(2);  // R27
  CHECK(w.insert(key_from(0, 9)) == 0);
  CHECK(w.insert(key_of({0, 1, 2, 3, 40, 41, 42})) == 4);
  CHECK(w.tree.total() == 12);
  CHECK(w.match(key_from(0, 6)) == 6);
  CHECK(w.match(key_of({0, 1, 2, 9})) == 2);
  Removed gone;
  CHECK(w.tree.evict(1, &gone) == 2);
  CHECK(gone.text == "[40 41]");
  CHECK(w.tree.evict(100) == 10);
  CHECK(w.tree.total() == 0);
}

TEST_CASE("A locked agent keeps the shared prefix and its own tokens") {
  World w;  // R28, KV-18 b
  const auto agent = [](std::int64_t i) {
    RadixKey key = key_from(0, 99);
    key.append({7, 1000 * i, 10});
    return key;
  };
  for (std::int64_t i = 1; i <= 4; ++i) w.insert(agent(i));
  CHECK(w.tree.total() == 140);
  const RadixMatch third = w.tree.match(agent(3).view());
  w.tree.lock(third.node);
  CHECK(third.length == 110);
  CHECK(w.tree.protected_units() == 110);
  CHECK(w.tree.evictable() == 30);
  CHECK(w.tree.evict(1000) == 30);
  CHECK(w.tree.total() == 110);
}

TEST_CASE("Repeated pages of one key are two pages and are removed together") {
  World w(4);  // R29, R30
  w.insert(key_of({1, 2, 3, 4, 1, 2, 3, 4}));
  CHECK(w.tree.total() == 8);
  Removed gone;
  CHECK(w.tree.evict(4, &gone) == 8);
  CHECK(gone.text == "[1 2 3 4][1 2 3 4]");
}

TEST_CASE("Bigram keys are one shorter than their tokens") {
  World w(1, RadixEviction::lru, KeyUnit::bigram);  // R31
  CHECK(w.insert(key_of({1, 2, 3})) == 0);
  CHECK(w.insert(key_from(1, 7)) == 2);
  CHECK(w.insert(key_of({10, 11, 12})) == 0);
  CHECK(w.insert(key_of({1, 2, 3, 4, 5, 60, 70})) == 4);
  CHECK(w.match(key_of({1, 2, 3, 4, 5, 60, 70})) == 6);
  CHECK(w.match(key_of({1})) == 0);
}

TEST_CASE("A tree that was emptied takes the same key again") {
  World w;  // R35
  w.insert(key_from(1, 6));
  CHECK(w.tree.evict(100) == 6);
  CHECK(w.insert(key_from(1, 6)) == 0);
  CHECK(w.match(key_from(1, 6)) == 6);
  w.tree.lock(w.tree.match(key_from(1, 3).view()).node);
  w.tree.reset();
  CHECK(w.tree.total() == 0);
  CHECK(w.tree.nodes().count() == 0);
  CHECK(w.insert(key_from(1, 6)) == 0);
}

TEST_CASE("How a prompt is cut into runs has no influence") {
  RadixKey whole, pieces;
  whole.append({3, 0, 10});
  pieces.append({3, 0, 4});
  pieces.append({3, 4, 0});
  pieces.append({3, 4, 6});
  CHECK(pieces.view().runs.size() == 1);
  World w;
  w.insert(whole);
  CHECK(w.match(pieces) == 10);
}

TEST_CASE("Every eviction policy has a name of its own that leads back to it") {
  CHECK(radix_evictions().size() == 7);
  for (const RadixEvictionRow& row : radix_evictions()) {
    CHECK(radix_eviction(row.name) == row.policy);
    CHECK_FALSE(row.summary.empty());
  }
  CHECK_FALSE(radix_eviction("lifo"));
}
