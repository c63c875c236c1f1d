#include "kv/tiers/keyed_lists.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "diag/check.h"
#include "support/allocations.h"

using kvsim::kv::BlockHash;
using kvsim::kv::KeyedLists;

TEST_SUITE("kv/keyed lists") {
  TEST_CASE("lists keep the order in which keys were appended") {
    KeyedLists lists(2);
    for (const BlockHash key : std::vector<BlockHash>{5, 6, 7}) lists.append(0, lists.add(key));
    lists.append(1, lists.find(6));
    lists.append(0, lists.find(5));
    CHECK(lists.keys(0) == std::vector<BlockHash>{7, 5});
    CHECK(lists.keys(1) == std::vector<BlockHash>{6});
    lists.remove(lists.find(7));
    CHECK(lists.keys(0) == std::vector<BlockHash>{5});
    CHECK(lists.find(7) == KeyedLists::none);
    lists.unlink(lists.find(5));
    CHECK(lists.length(0) == 0);
    CHECK(lists.list(lists.find(5)) == -1);
    lists.verify();
    lists.clear();
    CHECK(lists.size() == 0);
    CHECK(lists.find(5) == KeyedLists::none);
  }

  TEST_CASE("a key is added once") {
    KeyedLists lists(1);
    lists.add(5);
    CHECK_THROWS_AS(lists.add(5), kvsim::InternalError);
  }

  TEST_CASE("every key is found through any sequence of additions and removals") {
    std::mt19937_64 random(3);
    for (int world = 0; world < 20; ++world) {
      KeyedLists lists(3);
      std::map<BlockHash, KeyedLists::Entry> there;
      for (int step = 0; step < 2000; ++step) {
        const BlockHash key = random() % 300 * (world % 2 == 0 ? 1 : 0x100000000ULL);
        const auto found = there.find(key);
        CHECK(lists.find(key) == (found == there.end() ? KeyedLists::none : found->second));
        if (found == there.end()) {
          there[key] = lists.add(key);
          lists.append(static_cast<int>(random() % 3), there[key]);
        } else {
          lists.remove(found->second);
          there.erase(found);
        }
      }
      CHECK(lists.size() == static_cast<std::int64_t>(there.size()));
      for (const auto& [key, entry] : there) CHECK(lists.find(key) == entry);
      lists.verify();
    }
  }

  TEST_CASE("as many keys as before need no more memory") {
    KeyedLists lists(1);
    const auto fill = [&](BlockHash from) {
      for (BlockHash key = from; key < from + 100; ++key) lists.append(0, lists.add(key));
      for (BlockHash key = from; key < from + 100; ++key) lists.remove(lists.find(key));
    };
    fill(0);
    const std::size_t before = kvsim::testing::allocations();
    fill(1000);
    CHECK(kvsim::testing::allocations() == before);
  }
}
