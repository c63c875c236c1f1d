#include "kv/tiers/offload_manager.h"

#include <doctest/doctest.h>

#include "diag/check.h"

using namespace kvsim::kv;

namespace {

using Keys = std::vector<BlockHash>;
using List = OffloadManager::List;
using Presence = OffloadManager::Presence;

// A manager whose stores complete at once.
struct Pool {
  explicit Pool(std::int64_t blocks, OffloadPolicy policy = OffloadPolicy::lru,
                std::int64_t threshold = 0, std::int64_t tracked = 64000)
      : manager({blocks, policy, threshold, tracked}) {}
  bool begin(const Keys& keys) { return manager.prepare_store(keys, store); }
  bool put(const Keys& keys) {
    if (!begin(keys)) return false;
    manager.complete_store(store.keys, OffloadManager::Copy::done);
    return true;
  }
  void load(const Keys& keys) {
    std::vector<BlockId> ids;
    manager.prepare_load(keys, ids);
  }
  OffloadManager manager;
  OffloadManager::Store store;
};

}  // namespace

TEST_SUITE("kv/offload manager") {
  TEST_CASE("a block that is being stored is pending and no hit") {
    Pool pool(4);
    REQUIRE(pool.begin({7, 8}));
    CHECK(pool.manager.lookup(7) == Presence::pending);
    CHECK(pool.manager.pending() == 2);
    CHECK(pool.manager.idle() == 0);
    pool.manager.complete_store(Keys{7}, OffloadManager::Copy::done);
    CHECK(pool.manager.lookup(7) == Presence::hit);
    CHECK(pool.manager.lookup(8) == Presence::pending);
    CHECK(pool.manager.lookup(9) == Presence::miss);
  }

  TEST_CASE("a failed store drops its blocks and blocks never used are taken first") {
    Pool pool(3);
    REQUIRE(pool.begin({1}));
    CHECK(pool.store.blocks == std::vector<BlockId>{0});
    pool.manager.complete_store(Keys{1}, OffloadManager::Copy::failed);
    CHECK(pool.manager.lookup(1) == Presence::miss);
    CHECK(pool.manager.free() == 3);
    REQUIRE(pool.begin({1, 2, 3}));
    CHECK(pool.store.blocks == std::vector<BlockId>{1, 2, 0});
  }

  TEST_CASE("with LRU the head of a fresh prefix goes first unless it was touched") {
    Pool pool(3);
    REQUIRE(pool.put({1, 2, 3}));
    CHECK(pool.manager.keys(List::recency) == Keys{1, 2, 3});
    pool.manager.touch(Keys{1, 2, 3});
    CHECK(pool.manager.keys(List::recency) == Keys{3, 2, 1});
    REQUIRE(pool.put({4}));
    CHECK(pool.store.evicted == Keys{3});
  }

  TEST_CASE("with LRU a loaded block comes back as the most recent") {
    Pool pool(3);
    REQUIRE(pool.put({1, 2, 3}));
    pool.load({1, 2});
    pool.load({1});
    CHECK(pool.manager.keys(List::recency) == Keys{3});
    pool.manager.complete_load(Keys{1, 2});
    CHECK(pool.manager.keys(List::recency) == Keys{3, 2});
    pool.manager.complete_load(Keys{1});
    CHECK(pool.manager.keys(List::recency) == Keys{3, 2, 1});
  }

  TEST_CASE("a store that would need blocks in use or of its own set is refused whole") {
    for (const OffloadPolicy policy : {OffloadPolicy::lru, OffloadPolicy::arc}) {
      Pool pool(3, policy);
      REQUIRE(pool.put({1, 2, 3}));
      pool.load({1});
      CHECK_FALSE(pool.begin({2, 4, 5}));  // of 1, 2 and 3 only 3 could go
      CHECK(pool.store.keys.empty());
      CHECK(pool.manager.idle() == 2);
      CHECK(pool.manager.lookup(3) == Presence::hit);
      REQUIRE(pool.begin({2, 4}));
      CHECK(pool.store.evicted == Keys{3});
      CHECK(pool.store.keys == Keys{4});
    }
  }

  TEST_CASE("with ARC a touched ready block moves to T2 and a pending one stays") {
    Pool pool(4, OffloadPolicy::arc);
    REQUIRE(pool.put({1, 2}));
    REQUIRE(pool.begin({3, 4}));
    pool.manager.touch(Keys{1, 3});
    CHECK(pool.manager.keys(List::t1) == Keys{2, 4, 3});
    CHECK(pool.manager.keys(List::t2) == Keys{1});
  }

  TEST_CASE("with ARC a touched ghost moves the target by the ratio of the ghosts") {
    Pool pool(2, OffloadPolicy::arc);
    REQUIRE(pool.put({1, 2}));
    pool.manager.touch(Keys{1, 2});
    REQUIRE(pool.put({3, 4}));  // T1 is empty: both go from T2
    CHECK(pool.manager.keys(List::b2) == Keys{2, 1});
    REQUIRE(pool.put({5}));
    CHECK(pool.manager.keys(List::b1) == Keys{3});
    pool.manager.touch(Keys{3});
    CHECK(pool.manager.target_t1() == 2.0);  // two ghosts of B2 to one of B1
    pool.manager.touch(Keys{1});
    CHECK(pool.manager.target_t1() == 1.0);
  }

  TEST_CASE("with ARC a store is refused when T1 is below its target and T2 is empty") {
    Pool pool(2, OffloadPolicy::arc);
    REQUIRE(pool.put({1, 2}));
    REQUIRE(pool.put({3, 4}));
    pool.manager.touch(Keys{1, 2});  // ghosts of B1: the target rises to 2
    CHECK(pool.manager.target_t1() == 2.0);
    CHECK(pool.manager.idle() == 2);
    CHECK_FALSE(pool.begin({5, 6}));  // the second victim would leave |T1| = 1 below 2
    CHECK(pool.begin({5}));
  }

  TEST_CASE("ghosts are no more than the pool has blocks") {
    Pool pool(2, OffloadPolicy::arc);
    for (BlockHash key = 0; key < 20; ++key) REQUIRE(pool.put({key}));
    CHECK(pool.manager.keys(List::b1) == Keys{16, 17});
    pool.manager.verify();
  }

  TEST_CASE("a key is stored once it has been looked up often enough") {
    Pool pool(4, OffloadPolicy::lru, 2);
    pool.manager.lookup(1);
    REQUIRE(pool.put({1, 2}));
    CHECK(pool.store.keys.empty());
    pool.manager.lookup(1);
    pool.manager.reset();  // the counts stay
    REQUIRE(pool.put({1, 2}));
    CHECK(pool.store.keys == Keys{1});
  }

  TEST_CASE("a threshold of one asks for no lookup") {
    Pool pool(4, OffloadPolicy::lru, 1);
    REQUIRE(pool.put({1}));
    CHECK(pool.store.keys == Keys{1});
  }

  TEST_CASE("only the last keys looked up are counted") {
    Pool pool(4, OffloadPolicy::lru, 2, 2);
    for (const BlockHash key : Keys{1, 2, 1, 3, 2}) pool.manager.lookup(key);
    // 3 pushed 2 out, so that the second lookup of 2 counts as its first and pushes 1 out.
    REQUIRE(pool.put({1, 2, 3}));
    CHECK(pool.store.keys.empty());
    pool.manager.lookup(2);
    REQUIRE(pool.put({1, 2, 3}));
    CHECK(pool.store.keys == Keys{2});
  }

  TEST_CASE("transfers that were not begun cannot end") {
    Pool pool(4);
    std::vector<BlockId> ids;
    CHECK_THROWS_AS(pool.manager.complete_store(Keys{1}, OffloadManager::Copy::done),
                    kvsim::InternalError);
    CHECK_THROWS_AS(pool.manager.prepare_load(Keys{1}, ids), kvsim::InternalError);
    CHECK_THROWS_AS(pool.manager.complete_load(Keys{1}), kvsim::InternalError);
    REQUIRE(pool.put({1}));
    CHECK_THROWS_AS(pool.manager.complete_load(Keys{1}), kvsim::InternalError);
  }
}
