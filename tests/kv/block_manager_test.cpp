#include "kv/block_manager.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <vector>

using namespace kvsim::kv;

namespace {

// A manager with the operations of the engine's own block manager tests: allocate a whole prompt,
// append known tokens, free.
struct World {
  explicit World(std::int64_t num_blocks, bool caching = true)
      : manager({num_blocks, 16, caching, 0.0, 1 << 20}) {}

  struct Request {
    BlockTable table;
    TokenChain chain;
    std::int64_t computed = 0;
  };

  // Answers the hit in tokens, or nothing when the allocation is refused.
  std::optional<std::int64_t> allocate(int id, const std::vector<TokenRun>& prompt,
                                       std::uint64_t salt = 0) {
    Request& r = requests[id];
    r.chain.reset(salt, 1000 + static_cast<std::uint64_t>(id), 16);
    for (const TokenRun& run : prompt) r.chain.append(run);
    const std::int64_t hit = manager.lookup(r.chain);
    if (!manager.admit(r.table, r.chain, hit, r.chain.tokens() - hit,
                       BlockManager::FullInput::may_wait, BlockManager::Others::some_running))
      return std::nullopt;
    r.computed = r.chain.tokens();
    return hit;
  }
  bool append(int id, std::int64_t n) {
    Request& r = requests[id];
    if (!manager.extend(r.table, r.computed, n)) return false;
    r.computed += n;
    r.chain.grow_to(r.computed);
    manager.publish(r.table, r.chain, r.computed);
    return true;
  }
  void free(int id) { manager.free(requests[id].table); }
  std::vector<BlockId> blocks(int id) { return requests[id].table.blocks; }

  BlockManager manager;
  std::map<int, Request> requests;
};

constexpr std::uint64_t common = 7;
TokenRun own(int id, std::int64_t n) { return {100 + static_cast<std::uint64_t>(id), 0, n}; }

}  // namespace

TEST_SUITE("kv/block_manager") {
  TEST_CASE("equal prompts share blocks and freed blocks queue up tail first") {  // KV-01
    World w(11);
    CHECK(w.allocate(0, {{common, 0, 48}, own(0, 7)}) == 0);
    CHECK(w.blocks(0) == std::vector<BlockId>{1, 2, 3, 4});
    CHECK(w.allocate(1, {{common, 0, 48}, own(1, 5)}) == 48);
    CHECK(w.blocks(1) == std::vector<BlockId>{1, 2, 3, 5});
    CHECK(w.manager.pool().references(1) == 2);
    CHECK(w.manager.pool().free() == 5);
    w.free(0);
    w.free(1);
    CHECK(w.manager.pool().queue() == std::vector<BlockId>{5, 4, 6, 7, 8, 9, 10, 3, 2, 1});
    CHECK(w.allocate(2, {{common, 0, 48}, own(2, 6)}) == 48);
    CHECK(w.blocks(2) == std::vector<BlockId>{1, 2, 3, 5});
    CHECK(w.manager.pool().free() == 6);
    w.free(2);
    CHECK(w.allocate(3, {own(3, 160)}) == 0);
    CHECK(w.blocks(3) == std::vector<BlockId>{5, 4, 6, 7, 8, 9, 10, 3, 2, 1});
    CHECK(w.manager.pool().free() == 0);
    CHECK(w.manager.pool().evictions() == 3);
    w.manager.pool().verify();
  }

  TEST_CASE("the tail of a prompt is evicted before its head") {  // KV-02
    World w(11);
    w.allocate(0, {own(0, 87)});
    w.allocate(1, {own(1, 48)});
    CHECK(w.manager.pool().free() == 1);
    w.free(0);
    CHECK(w.manager.pool().queue() == std::vector<BlockId>{6, 10, 5, 4, 3, 2, 1});
    w.free(1);
    CHECK(w.manager.pool().queue() == std::vector<BlockId>{6, 10, 5, 4, 3, 2, 1, 9, 8, 7});
    CHECK(w.allocate(2, {own(0, 35)}) == 32);
    CHECK(w.blocks(2) == std::vector<BlockId>{1, 2, 6});
    CHECK(w.manager.pool().free() == 7);
  }

  TEST_CASE("a hit leaves at least one token to compute") {  // KV-03
    World w(100);
    w.allocate(0, {{common, 0, 32}});
    w.free(0);
    CHECK(w.allocate(1, {{common, 0, 32}}) == 16);
    CHECK(w.allocate(2, {{common, 0, 33}}) == 32);
  }

  TEST_CASE("the next turn of a conversation hits prompt and output of the last one") {  // KV-03
    World w(100);
    w.allocate(0, {own(0, 40)});
    CHECK(w.append(0, 9));
    w.free(0);
    CHECK(w.allocate(1, {own(0, 40), {1000, 0, 10}, own(1, 20)}) == 48);
  }

  TEST_CASE("a refused allocation changes nothing") {  // KV-10
    World w(11);
    w.allocate(0, {{common, 0, 48}});
    w.allocate(1, {{common, 0, 48}, {common, 0, 48}});
    w.free(1);
    w.allocate(2, {own(2, 32)});
    CHECK(w.manager.pool().free() == 5);
    const auto before = w.manager.pool().queue();
    CHECK_FALSE(w.allocate(3, {{common, 0, 48}, {common, 0, 48}, {common, 0, 48}}).has_value());
    CHECK(w.manager.pool().queue() == before);
    CHECK(w.manager.pool().references(1) == 1);
    CHECK(w.blocks(3).empty());
  }

  TEST_CASE("a salt separates equal prompts") {  // KV-12
    World w(11);
    w.allocate(0, {{common, 0, 48}, own(0, 11)}, 1);
    CHECK(w.append(0, 5));
    CHECK(w.blocks(0).size() == 4);
    CHECK(w.manager.pool().hash(4) != 0);
    CHECK(w.allocate(1, {{common, 0, 48}, own(1, 11)}, 1) == 48);
    CHECK(w.allocate(2, {{common, 0, 48}, own(2, 11)}, 2) == 0);
  }

  TEST_CASE("the way a prompt is cut into runs has no influence") {
    World w(100);
    w.allocate(0, {{common, 0, 20}, {common, 20, 30}, own(0, 14)});
    CHECK(w.allocate(1, {{common, 0, 50}, own(0, 14)}) == 48);
    CHECK(w.allocate(2, {{common, 0, 49}, {common, 49, 1}, own(0, 15)}) == 64);
  }

  TEST_CASE("without prefix caching nothing is found and nothing is hashed") {
    World w(11, false);
    w.allocate(0, {own(0, 64)});
    CHECK(w.manager.pool().hash(1) == 0);
    w.free(0);
    CHECK(w.allocate(1, {own(0, 64)}) == 0);
  }
}

namespace {

// The same manager written for reading: token by token, maps and lists, no hashes.
class NaiveManager {
 public:
  explicit NaiveManager(std::int64_t num_blocks) {
    for (BlockId b = 1; b < num_blocks; ++b) queue_.push_back(b);
    references_.resize(static_cast<std::size_t>(num_blocks));
  }

  struct Request {
    std::vector<int> tokens;
    std::vector<BlockId> blocks;
  };

  std::optional<std::int64_t> allocate(Request& r) {
    std::vector<BlockId> hits;
    for (std::size_t i = 1; i * block < r.tokens.size(); ++i) {
      const std::vector<int> prefix(r.tokens.begin(),
                                    r.tokens.begin() + static_cast<long>(i * block));
      const auto found =
          std::ranges::find_if(cached_, [&](const auto& entry) { return entry.second == prefix; });
      if (found == cached_.end()) break;
      hits.push_back(found->first);
    }
    const std::size_t need = (r.tokens.size() + block - 1) / block - hits.size();
    const auto idle = std::ranges::count_if(
        hits, [&](BlockId b) { return references_[static_cast<std::size_t>(b)] == 0; });
    if (need + static_cast<std::size_t>(idle) > queue_.size()) return std::nullopt;
    for (const BlockId b : hits) {
      if (references_[static_cast<std::size_t>(b)]++ == 0) queue_.remove(b);
    }
    r.blocks = hits;
    take(r, need);
    hash(r, hits.size());
    return static_cast<std::int64_t>(hits.size() * block);
  }
  bool append(Request& r, int token) {
    const bool more = r.tokens.size() % block == 0;
    if (more && queue_.empty()) return false;
    r.tokens.push_back(token);
    if (more) take(r, 1);
    hash(r, (r.tokens.size() - 1) / block);
    return true;
  }
  void free(Request& r) {
    std::ranges::reverse(r.blocks);
    for (const BlockId b : r.blocks) {
      if (--references_[static_cast<std::size_t>(b)] > 0) continue;
      const bool hashed =
          std::ranges::any_of(cached_, [&](const auto& entry) { return entry.first == b; });
      if (hashed)
        queue_.push_back(b);
      else
        queue_.push_front(b);
    }
    r.blocks.clear();
    r.tokens.clear();
  }
  std::vector<BlockId> queue() const { return {queue_.begin(), queue_.end()}; }

 private:
  static constexpr std::size_t block = 4;
  void take(Request& r, std::size_t n) {
    while (n-- > 0) {
      const BlockId b = queue_.front();
      queue_.pop_front();
      std::erase_if(cached_, [&](const auto& entry) { return entry.first == b; });
      references_[static_cast<std::size_t>(b)] = 1;
      r.blocks.push_back(b);
    }
  }
  void hash(const Request& r, std::size_t from) {
    for (std::size_t i = from; (i + 1) * block <= r.tokens.size(); ++i)
      cached_.emplace_back(r.blocks[i],
                           std::vector<int>(r.tokens.begin(),
                                            r.tokens.begin() + static_cast<long>((i + 1) * block)));
  }
  std::list<BlockId> queue_;
  std::vector<int> references_;
  std::vector<std::pair<BlockId, std::vector<int>>> cached_;  // in order of publication
};

// Random requests to a pool of `num_blocks`; `prompt()` answers the runs of a new one. Both
// managers agree after every operation.
template <class Prompt>
void expect_agreement(std::mt19937_64& rng, int num_blocks, int ops, Prompt prompt) {
  const auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<std::uint64_t>(n)); };
  BlockManager fast({num_blocks, 4, true, 0.0, 1 << 20});
  NaiveManager naive(num_blocks);
  struct Pair {
    BlockTable table;
    TokenChain chain;
    NaiveManager::Request request;
    bool live = false;
  };
  std::vector<Pair> pairs(4);
  for (int op = 0; op < ops; ++op) {
    Pair& p = pairs[static_cast<std::size_t>(pick(4))];
    if (!p.live) {
      // Token value = content * 1000 + offset.
      p.chain.reset(0, 50 + static_cast<std::uint64_t>(op), 4);
      p.request = {};
      for (const TokenRun& run : prompt()) {
        p.chain.append(run);
        for (std::int64_t t = 0; t < run.length; ++t)
          p.request.tokens.push_back(
              static_cast<int>(run.content * 1000 + static_cast<std::uint64_t>(run.offset + t)));
      }
      const auto expected = naive.allocate(p.request);
      const std::int64_t hit = fast.lookup(p.chain);
      const bool ok =
          fast.admit(p.table, p.chain, hit, p.chain.tokens() - hit,
                     BlockManager::FullInput::may_wait, BlockManager::Others::none_running);
      REQUIRE(ok == expected.has_value());
      if (ok) CHECK(hit == *expected);
      p.live = ok;
    } else if (pick(3) > 0) {
      const auto computed = static_cast<std::int64_t>(p.request.tokens.size());
      const bool expected = naive.append(p.request, 100000 + op * 100 + pick(2));
      REQUIRE(fast.extend(p.table, computed, 1) == expected);
      if (expected) {
        p.chain.append({static_cast<std::uint64_t>(p.request.tokens.back()), 0, 1});
        fast.publish(p.table, p.chain, computed + 1);
      }
    } else {
      naive.free(p.request);
      fast.free(p.table);
      p.live = false;
    }
    if (p.live) CHECK(p.table.blocks == p.request.blocks);
    REQUIRE(fast.pool().queue() == naive.queue());
    fast.pool().verify();
  }
}

}  // namespace

TEST_SUITE("kv/block_manager against the naive one") {
  TEST_CASE("random worlds agree in hits and refusals and tables and queue after every operation") {
    std::mt19937_64 rng(20260901);
    const auto pick = [&](int n) {
      return static_cast<int>(rng() % static_cast<std::uint64_t>(n));
    };
    for (int round = 0; round < 200; ++round) {
      // Prompts over two contents, so that prefixes recur.
      expect_agreement(rng, 4 + pick(12), 60, [&] {
        std::vector<TokenRun> runs(static_cast<std::size_t>(1 + pick(2)));
        for (TokenRun& run : runs)
          run = {static_cast<std::uint64_t>(1 + pick(2)), pick(2) * 3, 1 + pick(9)};
        return runs;
      });
    }
  }

  TEST_CASE("exact repeats of prompts of whole blocks agree after every operation") {
    std::mt19937_64 rng(20261130);
    const auto pick = [&](int n) {
      return static_cast<int>(rng() % static_cast<std::uint64_t>(n));
    };
    for (int round = 0; round < 100; ++round) {
      // The last block of every repeat is published again beside its equals.
      expect_agreement(rng, 8 + pick(40), 200, [&] {
        return std::vector<TokenRun>{{static_cast<std::uint64_t>(1 + pick(2)), 0, 4 + 4 * pick(2)}};
      });
    }
  }
}
