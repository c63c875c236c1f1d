#include "kv/groups/group_manager.h"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <vector>

using namespace kvsim::kv;

namespace {

constexpr GroupSpec full{GroupKind::full, 16, 0, 0};
constexpr GroupSpec window_32{GroupKind::sliding_window, 16, 32, 0};
constexpr GroupSpec state{GroupKind::mamba, 16, 0, 0};

GroupManager::Options options(std::vector<GroupSpec> groups, std::int64_t num_blocks) {
  GroupManager::Options o;
  o.blocks.num_blocks = num_blocks;
  o.blocks.block_tokens = 16;
  o.blocks.max_model_len = 1 << 20;
  o.groups = std::move(groups);
  o.largest_chunk = 1 << 20;
  o.in_flight_tokens = 1 << 20;
  return o;
}

GroupManager::Options states(std::vector<GroupSpec> groups, std::int64_t num_blocks) {
  GroupManager::Options o = options(std::move(groups), num_blocks);
  o.state_mode = StateMode::align;
  return o;
}

struct World {
  explicit World(const GroupManager::Options& o) : manager(o) {}

  struct Request {
    GroupTable table;
    TokenChain chain;
    std::int64_t prompt = 0, computed = 0;
  };
  // One step of its own: looks the prompt up and computes up to `most` tokens of it, where chunks
  // end. The hit, or nothing when refused.
  std::optional<std::int64_t> admit(int id, const std::vector<TokenRun>& prompt,
                                    std::int64_t most = 1 << 20) {
    manager.begin_step();
    const auto hit = admit_in_step(id, prompt, most);
    manager.end_step();
    return hit;
  }
  std::optional<std::int64_t> admit_in_step(int id, const std::vector<TokenRun>& prompt,
                                            std::int64_t most = 1 << 20) {
    Request& r = requests[id];
    r.chain.reset(0, 1000 + static_cast<std::uint64_t>(id), manager.hash_tokens());
    for (const TokenRun& run : prompt) r.chain.append(run);
    r.prompt = r.chain.tokens();
    const GroupLookup::Hit hit = manager.lookup(r.chain);
    const std::int64_t n = manager.cut_chunk(
        {hit.tokens, std::min(most, r.prompt - hit.tokens), r.prompt, r.prompt, hit.shared});
    if (n == 0 || !manager.admit(r.table, r.chain,
                                 {r.prompt, hit, n, BlockManager::FullInput::may_wait,
                                  BlockManager::Others::none_running}))
      return std::nullopt;
    r.computed = hit.tokens + n;
    return hit.tokens;
  }
  // The next chunk of the prompt, or one more token. Its size, or nothing when refused.
  std::optional<std::int64_t> step(int id, std::int64_t most = 1 << 20) {
    Request& r = requests[id];
    manager.begin_step();
    const std::int64_t known = std::max(r.chain.tokens(), r.computed + 1);
    r.chain.grow_to(known);
    const std::int64_t n = manager.cut_chunk(
        {r.computed, std::min(most, known - r.computed), known, r.prompt, r.table.shared_prefix});
    const bool ok = manager.extend(r.table, r.computed, r.computed, n);
    if (ok) {
      r.computed += n;
      manager.publish(r.table, r.chain, r.computed);
    }
    manager.end_step();
    manager.pool().verify();
    return ok ? std::optional(n) : std::nullopt;
  }
  void decode(int id, std::int64_t tokens) {
    for (std::int64_t i = 0; i < tokens; ++i) REQUIRE(step(id).has_value());
  }
  void free(int id) { manager.free(requests[id].table); }
  const std::vector<BlockId>& blocks(int id, std::size_t group) {
    return requests[id].table.groups[group].blocks;
  }
  std::int64_t free_blocks() const { return manager.pool().free(); }

  GroupManager manager;
  std::map<int, Request> requests;
};

using Ids = std::vector<BlockId>;
constexpr std::uint64_t common = 7;
TokenRun own(int id, std::int64_t n) { return {100 + static_cast<std::uint64_t>(id), 0, n}; }

}  // namespace

TEST_CASE("Every group has blocks of its own from one pool") {
  // KV-11, dense: the second request finds 48 tokens, of which each window keeps two blocks.
  GroupManager::Options o = options({full, window_32, window_32}, 21);
  o.retention_interval.reset();
  World world(o);
  CHECK(world.admit(0, {{common, 0, 48}, own(0, 7)}) == 0);
  CHECK(world.blocks(0, 0) == Ids{1, 2, 3, 4});
  CHECK(world.blocks(0, 1) == Ids{5, 6, 7, 8});
  CHECK(world.blocks(0, 2) == Ids{9, 10, 11, 12});
  CHECK(world.admit(1, {{common, 0, 48}, own(1, 5)}) == 48);
  CHECK(world.blocks(1, 0) == Ids{1, 2, 3, 13});
  CHECK(world.blocks(1, 1) == Ids{0, 6, 7, 14});
  CHECK(world.blocks(1, 2) == Ids{0, 10, 11, 15});
  world.free(0);
  world.free(1);
  CHECK(world.free_blocks() == 20);
  CHECK(world.admit(2, {{common, 0, 48}, own(2, 5)}) == 48);
}

TEST_CASE("Blocks that left the window are given back by the next extension") {
  World world(options({full, window_32}, 21));
  world.admit(0, {own(0, 79)});
  CHECK(world.free_blocks() == 10);
  CHECK(world.step(0) == 1);  // 79 computed: 48 tokens are behind the window
  CHECK(world.blocks(0, 1) == Ids{0, 0, 0, 9, 10});
  CHECK(world.free_blocks() == 13);
  world.decode(0, 17);
  CHECK(world.blocks(0, 1).size() == 7);
  CHECK(world.manager.held(world.requests[0].table) == 7 + 3);
}

TEST_CASE("An extension that is refused has given back what left the window") {
  World world(options({full, window_32}, 11));
  world.admit(0, {own(0, 64)});
  CHECK(world.free_blocks() == 2);
  CHECK_FALSE(world.manager.extend(world.requests[0].table, 64, 64, 48));
  CHECK(world.blocks(0, 1) == Ids{0, 0, 7, 8});
  CHECK(world.free_blocks() == 4);
}

TEST_CASE("A shared prefix is reused from its third user on") {
  World world(states({full, state}, 100));
  const auto prompt = [](int id) { return std::vector<TokenRun>{{common, 0, 64}, own(id, 40)}; };
  const auto run = [&](int id) {
    const auto hit = world.admit(id, prompt(id));
    std::vector<std::int64_t> chunks{world.requests[id].computed - *hit};
    while (world.requests[id].computed < 104) chunks.push_back(*world.step(id));
    world.free(id);
    return std::pair(*hit, chunks);
  };
  using Chunks = std::vector<std::int64_t>;
  CHECK(run(0) == std::pair(std::int64_t{0}, Chunks{96, 8}));
  CHECK(run(1) == std::pair(std::int64_t{0}, Chunks{64, 32, 8}));
  CHECK(run(2) == std::pair(std::int64_t{64}, Chunks{32, 8}));
}

TEST_CASE("A state moves on when a block is entered and the old one goes a step later") {
  World world(states({full, state}, 20));
  CHECK(world.admit(0, {own(0, 20)}) == 0);
  CHECK(world.blocks(0, 1) == Ids{2});
  CHECK(world.free_blocks() == 17);
  CHECK(world.step(0) == 4);
  CHECK(world.blocks(0, 1) == Ids{2, 4});
  CHECK(world.free_blocks() == 15);
  CHECK(world.step(0) == 1);
  CHECK(world.blocks(0, 1) == Ids{0, 4});
  CHECK(world.free_blocks() == 16);
}

TEST_CASE("Speculative blocks move on with the state") {
  GroupManager::Options o = states({full, state}, 40);
  o.speculative_tokens = 2;
  World world(o);
  world.admit(0, {own(0, 17)});
  CHECK(world.blocks(0, 1) == Ids{2, 3, 4});
  world.step(0);
  CHECK(world.blocks(0, 1) == Ids{2, 3, 4, 6});
  world.step(0);
  CHECK(world.blocks(0, 1) == Ids{0, 3, 4, 6});
}

TEST_CASE("A state published in a step cannot be hit in that step") {
  World world(states({full, state}, 40));
  world.manager.begin_step();
  CHECK(world.admit_in_step(0, {{common, 0, 48}, own(0, 1)}) == 0);
  const std::int64_t free = world.free_blocks();
  CHECK_FALSE(world.admit_in_step(1, {{common, 0, 48}, own(1, 1)}).has_value());
  CHECK(world.free_blocks() == free);
  world.manager.end_step();
  CHECK(world.admit(1, {{common, 0, 48}, own(1, 1)}) == 48);
}

TEST_CASE("Without prefix caching a state group holds one state for the whole request") {
  GroupManager::Options o = options({full, state}, 40);
  o.blocks.prefix_caching = false;
  o.groups[1].block_tokens = o.blocks.max_model_len;
  o.speculative_tokens = 3;
  World world(o);
  world.admit(0, {own(0, 100)});
  world.decode(0, 50);
  CHECK(world.blocks(0, 1).size() == 4);
  CHECK(world.blocks(0, 0).size() == 10);
}

TEST_CASE("Every block boundary keeps its state in mode all") {
  GroupManager::Options o = options({full, state}, 40);
  o.state_mode = StateMode::all;
  o.retention_interval.reset();
  World world(o);
  world.admit(0, {own(0, 70)});
  CHECK(world.blocks(0, 1).size() == 5);
  world.decode(0, 1);
  CHECK(world.manager.held(world.requests[0].table) == 5 + 1);
  world.free(0);
  CHECK(world.admit(1, {{100, 0, 40}, own(1, 9)}) == 32);
}

TEST_CASE("A prompt ends a chunk at its last match unit and goes on from there with a copy") {
  GroupManager::Options o = states({full, state}, 40);
  o.match_unit = 4;
  World world(o);
  CHECK(world.admit(0, {own(0, 30)}) == 0);
  CHECK(world.requests[0].computed == 16);
  CHECK(world.step(0) == 12);
  const BlockId tail = world.blocks(0, 1)[1];
  const std::int64_t free = world.free_blocks();
  CHECK(world.step(0) == 2);
  CHECK(world.blocks(0, 1)[1] != tail);
  CHECK(world.free_blocks() == free + 1);  // the state before it; the tail is free and cached

  CHECK(world.admit(1, {{100, 0, 30}, own(1, 20)}) == 28);
  CHECK(world.requests[1].computed == 32);
  CHECK(world.blocks(1, 0)[0] == world.blocks(0, 0)[0]);
  CHECK(world.blocks(1, 0)[1] != world.blocks(0, 0)[1]);
  CHECK(world.manager.pool().references(world.blocks(0, 0)[1]) == 1);
}

TEST_CASE("A step that copies a tail asks for a block for the state too") {
  GroupManager::Options o = states({full, state}, 6);
  o.match_unit = 4;
  World world(o);
  CHECK(world.admit(0, {own(0, 14)}) == 0);
  CHECK(world.requests[0].computed == 12);
  CHECK(world.free_blocks() == 3);
  CHECK(world.admit(1, {own(1, 3)}) == 0);
  CHECK(world.free_blocks() == 1);
  CHECK_FALSE(world.step(0).has_value());
  world.free(1);
  CHECK(world.step(0) == 2);
}

TEST_CASE("What a request holds alone is what it holds alone") {
  for (const std::int64_t prompt : {5, 16, 31, 64, 79}) {
    for (const std::int64_t unit : {16, 4}) {
      GroupManager::Options o = states({full, window_32, state, state}, 60);
      o.match_unit = unit;
      o.speculative_tokens = 1;
      World world(o);
      std::int64_t settled = 0;
      world.admit(0, {own(0, prompt)}, 32);
      for (int i = 0; i < 60; ++i) {
        const World::Request& r = world.requests[0];
        const std::int64_t held = world.manager.held(r.table);
        const std::int64_t alone = world.manager.blocks_alone(settled, r.computed, prompt);
        CAPTURE(prompt);
        CAPTURE(unit);
        CAPTURE(settled);
        // A copied tail counts the copy and the spare block that is asked for with it.
        CHECK(held <= alone);
        CHECK(held + 4 >= alone);
        if (settled != prompt / 4 * 4) CHECK(held == alone);
        settled = r.computed;
        REQUIRE(world.step(0, 32).has_value());
      }
    }
  }
}

TEST_CASE("Up to its quiet point an extension changes nothing") {
  GroupManager::Options o = states({full, window_32, state}, 60);
  o.blocks.lookahead_tokens = 2;
  World world(o);
  world.admit(0, {own(0, 40)}, 32);
  for (int i = 0; i < 100; ++i) {
    World::Request& r = world.requests[0];
    const GroupTable before = r.table;
    const std::int64_t quiet = world.manager.quiet_until(r.table);
    const std::int64_t end = r.computed + 1;
    REQUIRE(world.step(0).has_value());
    if (end + 2 > quiet) continue;
    for (std::size_t g = 0; g < before.groups.size(); ++g)
      CHECK(before.groups[g].blocks == r.table.groups[g].blocks);
  }
}
