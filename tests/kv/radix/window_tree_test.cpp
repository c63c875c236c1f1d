#include "kv/radix/window_tree.h"

#include <doctest/doctest.h>

#include "kv/radix/radix_keys.h"

using namespace kvsim::kv;

namespace {

struct World {
  explicit World(std::int64_t window, std::int64_t page = 1, LeafSplit split = LeafSplit::off)
      : tree({page, window, split}) {}
  std::int64_t insert(const RadixKey& key) {
    const std::int64_t prefix = tree.insert(key.view());
    tree.verify();
    return prefix;
  }
  std::int64_t match(const RadixKey& key) {
    const std::int64_t length = tree.match(key.view()).length;
    tree.verify();
    return length;
  }
  WindowTree::Evicted evict(std::int64_t full, std::int64_t window) {
    const WindowTree::Evicted evicted = tree.evict(full, window);
    tree.verify();
    return evicted;
  }
  WindowTree tree;
};

RadixKey branch() { return key_of({1, 2, 3, 4, 5, 60, 70}); }

}  // namespace

TEST_CASE("Window eviction leaves tombstones and a match needs a window behind the last one") {
  World w(4);  // R32
  CHECK(w.insert(key_from(1, 3)) == 0);
  CHECK(w.insert(key_from(1, 7)) == 3);
  CHECK(w.insert(key_from(10, 12)) == 0);
  CHECK(w.insert(branch()) == 5);
  CHECK(w.tree.full().used() == 12);
  WindowTree::Evicted gone = w.evict(1, 0);  // 10, 11, 12
  CHECK(gone.full == 3);
  CHECK(gone.window == 3);
  gone = w.evict(0, 1);  // the window KV of 1, 2, 3
  CHECK(gone.full == 0);
  CHECK(gone.window == 3);
  gone = w.evict(1, 2);  // 6, 7
  CHECK(gone.full == 2);
  CHECK(gone.window == 2);
  CHECK(w.tree.full().used() == 7);
  CHECK(w.tree.window().used() == 4);
  CHECK(w.match(key_from(1, 5)) == 0);
  CHECK(w.match(branch()) == 7);
}

TEST_CASE("A leaf cut at insertion lets a lock protect the pages of the window only") {
  const auto protects = [](std::int64_t window, std::int64_t page, LeafSplit split) {  // R33
    World w(window, page, split);
    w.insert(key_from(1, 12));
    const WindowLock lock = w.tree.lock(w.tree.match(key_from(1, 12).view()).node);
    CHECK(w.tree.full().locked == 12);
    const std::int64_t locked = w.tree.window().locked;
    w.tree.unlock(lock);
    CHECK(w.tree.window().locked == 0);
    w.tree.verify();
    return locked;
  };
  CHECK(protects(4, 1, LeafSplit::on_insert) == 4);
  CHECK(protects(5, 4, LeafSplit::on_insert) == 8);
  CHECK(protects(3, 2, LeafSplit::on_insert) == 4);
  CHECK(protects(4, 1, LeafSplit::off) == 12);
}

TEST_CASE("An insert over tombstones brings their window KV back") {
  World w(2);
  w.insert(key_from(1, 4));
  w.insert(key_from(1, 8));
  CHECK(w.evict(0, 1).window == 4);  // 1 to 4
  CHECK(w.tree.window().used() == 4);
  CHECK(w.match(key_from(1, 4)) == 0);
  CHECK(w.insert(key_from(1, 6)) == 6);
  CHECK(w.tree.window().used() == 8);
  CHECK(w.match(key_from(1, 4)) == 4);
}

TEST_CASE("Tombstones without children go with their last leaf") {
  World w(2);
  w.insert(key_from(1, 4));
  w.insert(key_from(1, 8));
  w.evict(0, 1);
  SUBCASE("and count when the full pool evicts") {
    const WindowTree::Evicted gone = w.evict(1, 0);
    CHECK(gone.full == 8);
    CHECK(gone.window == 4);
  }
  SUBCASE("and do not count when the window pool evicts") {
    const WindowTree::Evicted gone = w.evict(0, 1);
    CHECK(gone.full == 4);
    CHECK(gone.window == 4);
  }
  CHECK(w.tree.full().used() == 0);
  CHECK(w.tree.nodes().count() == 0);
}

TEST_CASE("A locked path can lose the window KV in front of its window") {
  World w(2);
  w.insert(key_from(1, 4));
  w.insert(key_from(1, 8));
  const WindowLock lock = w.tree.lock(w.tree.match(key_from(1, 8).view()).node);
  CHECK(w.tree.full().locked == 8);
  CHECK(w.tree.window().locked == 4);
  const WindowTree::Evicted gone = w.evict(100, 100);
  CHECK(gone.full == 0);
  CHECK(gone.window == 4);
  w.tree.unlock(lock);
  CHECK(w.tree.full().evictable == 8);
  CHECK(w.tree.window().evictable == 4);
}

TEST_CASE("A lock keeps its extent when its nodes are split") {
  World w(3);
  w.insert(key_from(1, 8));
  const WindowLock lock = w.tree.lock(w.tree.match(key_from(1, 8).view()).node);
  CHECK(w.match(key_from(1, 2)) == 2);
  CHECK(w.match(key_from(1, 5)) == 5);
  CHECK(w.tree.window().locked == 8);
  const WindowLock second = w.tree.lock(w.tree.match(key_from(1, 8).view()).node);
  CHECK(second.window_units == 3);
  w.tree.unlock(lock);
  w.tree.verify();
  CHECK(w.tree.window().locked == 3);
  w.tree.unlock(second);
  w.tree.verify();
  CHECK(w.tree.window().locked == 0);
  CHECK(w.tree.full().locked == 0);
}

TEST_CASE("A window tree that was reset holds nothing") {
  World w(3);
  w.insert(key_from(1, 8));
  w.tree.reset();
  w.tree.verify();
  CHECK(w.tree.full().used() == 0);
  CHECK(w.match(key_from(1, 8)) == 0);
}
