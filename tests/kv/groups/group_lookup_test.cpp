#include "kv/groups/group_lookup.h"

#include <doctest/doctest.h>

#include <set>
#include <utility>
#include <vector>

using namespace kvsim::kv;

namespace {

constexpr GroupSpec full{GroupKind::full, 16, 0, 0};
constexpr GroupSpec window_32{GroupKind::sliding_window, 16, 32, 0};
constexpr GroupSpec chunk_64{GroupKind::chunked_local, 16, 0, 64};
constexpr GroupSpec state{GroupKind::mamba, 16, 0, 0};

// A prompt of `tokens`, cached in every group but for the (group, block) pairs in `missing`.
struct World {
  World(std::vector<GroupSpec> groups, std::int64_t tokens, std::set<std::pair<int, int>> missing,
        bool drops_last_block = false)
      : pool(200), lookup(pool, {groups, 16, false, drops_last_block}) {
    chain.reset(0, 9, 16);
    chain.append({1, 0, tokens});
    for (int g = 0; g < static_cast<int>(groups.size()); ++g)
      for (int i = 0; i < tokens / 16; ++i)
        if (!missing.contains({g, i}))
          pool.publish(pool.allocate(),
                       group_hash(chain.block_hash(i), static_cast<std::size_t>(g)));
  }
  std::int64_t hit() { return lookup.find(chain).tokens / 16; }

  BlockPool pool;
  GroupLookup lookup;
  TokenChain chain;
};

}  // namespace

TEST_CASE("The last window of every group decides how long a prefix is") {
  // Full attention and two windows of 32 tokens (KV-11), all of 48 tokens cached but some blocks.
  const auto hit = [](std::set<std::pair<int, int>> missing) {
    return World({full, window_32, window_32}, 53, std::move(missing)).hit();
  };
  CHECK(hit({}) == 3);
  CHECK(hit({{1, 0}, {2, 0}}) == 3);
  CHECK(hit({{0, 0}}) == 0);
  CHECK(hit({{0, 2}, {1, 2}, {2, 2}}) == 2);
  CHECK(hit({{0, 2}}) == 2);
  CHECK(hit({{1, 2}}) == 2);
  CHECK(hit({{0, 2}, {1, 0}, {2, 0}}) == 0);
}

TEST_CASE("What the end of a prompt keeps of its windows serves that prompt alone") {
  // The blocks that interval 0 keeps of 53 tokens: 1 and 2 of each window (KV-11).
  const auto hit = [](std::set<std::pair<int, int>> missing) {
    missing.insert({{1, 0}, {2, 0}});
    return World({full, window_32, window_32}, 53, std::move(missing)).hit();
  };
  CHECK(hit({}) == 3);
  CHECK(hit({{0, 0}}) == 0);
  CHECK(hit({{0, 2}}) == 0);
  CHECK(hit({{1, 2}}) == 0);
}

TEST_CASE("A run of window blocks shorter than the window counts from the start only") {
  CHECK(World({window_32}, 81, {{0, 1}, {0, 3}, {0, 4}}).hit() == 1);
  CHECK(World({window_32}, 81, {{0, 0}, {0, 3}, {0, 4}}).hit() == 3);
  CHECK(World({window_32}, 81, {{0, 0}, {0, 1}, {0, 3}, {0, 4}}).hit() == 0);
}

TEST_CASE("A window of one token goes on from the rightmost cached block") {
  GroupSpec own = window_32;
  own.window = 1;
  CHECK(World({full, own}, 81, {{1, 0}, {1, 1}, {1, 2}, {1, 4}}).hit() == 4);
  CHECK(World({own}, 81, {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}}).hit() == 0);
}

TEST_CASE("Blocks before the last chunk of attention are not looked up") {
  // 6 blocks may be hit; the last chunk starts with block 4.
  CHECK(World({full, chunk_64}, 97, {{1, 0}, {1, 1}, {1, 2}, {1, 3}}).hit() == 6);
  CHECK(World({full, chunk_64}, 97, {{1, 5}}).hit() == 5);
  CHECK(World({full, chunk_64}, 97, {{1, 4}}).hit() == 4);
  CHECK(World({full, chunk_64}, 97, {{0, 1}, {1, 0}}).hit() == 0);
}

TEST_CASE("The rightmost state below the full attention prefix is taken") {
  CHECK(World({full, state}, 97, {{1, 5}, {1, 4}, {1, 2}, {1, 1}}).hit() == 4);
  CHECK(World({full, state}, 97, {{0, 3}, {1, 2}, {1, 1}}).hit() == 1);
  CHECK(World({full, state, state}, 97, {{1, 5}, {2, 4}}).hit() == 4);
}

TEST_CASE("Kinds shorten each other until none does") {
  // The window ends at 4, the state at 3, and there the window has no run that is long enough.
  CHECK(World({full, window_32, state}, 97, {{1, 4}, {1, 1}, {2, 3}}).hit() == 1);
  World world({full, window_32, state}, 97, {{1, 4}, {2, 3}});
  CHECK(world.hit() == 3);
  CHECK(world.lookup.blocks(0).size() == 3);
  CHECK(world.lookup.blocks(1).size() == 3);
  CHECK(world.lookup.blocks(2)[1] == 0);
}

TEST_CASE("A drafter costs full attention and windows a block and a state none") {
  CHECK(World({full}, 97, {}, true).hit() == 5);
  CHECK(World({full, window_32}, 97, {}, true).hit() == 5);
  CHECK(World({full, window_32}, 97, {{1, 5}}, true).hit() == 4);
  CHECK(World({full, state}, 97, {}, true).hit() == 5);
  CHECK(World({full, state}, 97, {{1, 4}}, true).hit() == 4);
}

TEST_CASE("Full attention beyond the prefix tells where a prompt leaves those before it") {
  World world({full, state}, 97, {{1, 5}, {1, 4}});
  const GroupLookup::Hit hit = world.lookup.find(world.chain);
  CHECK(hit.tokens == 64);
  CHECK(hit.shared == 96);
  World same({full, state}, 97, {});
  CHECK(same.lookup.find(same.chain).shared == 0);
}

TEST_CASE("Groups with blocks of different size agree on a common multiple") {
  GroupSpec wide = window_32;
  wide.block_tokens = 32;
  BlockPool pool(100);
  GroupLookup lookup(pool, {{full, wide}, 16, false, false});
  TokenChain chain;
  chain.reset(0, 9, 16);
  chain.append({1, 0, 100});
  for (int i = 0; i < 5; ++i) pool.publish(pool.allocate(), chain.block_hash(i));
  CHECK(lookup.find(chain).tokens == 0);
  for (int i = 0; i < 3; ++i)
    pool.publish(pool.allocate(), group_hash(chain.block_hash(2 * i + 1), 1));
  CHECK(lookup.find(chain).tokens == 64);
  CHECK(lookup.blocks(0).size() == 4);
  CHECK(lookup.blocks(1).size() == 2);
}
