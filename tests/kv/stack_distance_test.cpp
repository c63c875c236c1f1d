// What a cache of least recently used blocks hits is known without simulating one: a block is a hit
// exactly where its stack distance is at most the capacity (Mattson et al., 1970). And no policy,
// whatever it evicts, hits more than one that knows the future (Belady, 1966).
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "kv/block_manager.h"
#include "kv/radix/radix_tree.h"

using namespace kvsim;

namespace {

// Multiplicative congruential numbers: the same sequence everywhere.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 2654435761U + 12345) {}
  std::int64_t below(std::int64_t n) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(n));
  }

 private:
  std::uint64_t state_;
};

// Prompts out of a small tree of contents: request r is a path of pieces of `piece` tokens.
using Path = std::vector<std::uint64_t>;
std::vector<Path> any_paths(std::uint64_t seed, int requests) {
  Numbers numbers(seed);
  std::vector<Path> paths;
  for (int i = 0; i < requests; ++i) {
    Path path;
    std::uint64_t node = 1;
    for (std::int64_t depth = 0, n = 2 + numbers.below(6); depth < n; ++depth) {
      node = node * 4 + static_cast<std::uint64_t>(numbers.below(depth == 0 ? 3 : 2));
      path.push_back(node);  // a name of its own for every place in the tree
    }
    paths.push_back(path);
  }
  return paths;
}

// Hits of one request after another on a pool of `capacity` blocks of `piece` tokens.
std::int64_t pool_hits(const std::vector<Path>& paths, std::int64_t capacity) {
  constexpr std::int64_t piece = 4;
  kv::BlockManager::Options options;
  options.num_blocks = capacity + 2;  // the null block, and one for the token behind the prompt
  options.block_tokens = piece;
  options.max_model_len = 1 << 20;
  kv::BlockManager manager(options);
  std::int64_t hits = 0;
  for (const Path& path : paths) {
    kv::TokenChain chain;
    chain.reset(0, 7, piece);
    for (const std::uint64_t content : path) chain.append({content, 0, piece});
    chain.append({99, 0, 1});  // a hit is never the whole prompt
    kv::BlockTable table;
    const std::int64_t hit = manager.lookup(chain);
    REQUIRE(manager.admit(table, chain, hit, chain.tokens() - hit,
                          kv::BlockManager::FullInput::must_fit,
                          kv::BlockManager::Others::none_running));
    hits += hit / piece;
    manager.free(table);
  }
  return hits;
}

// The same from stack distances: a request's blocks are used last to first, so that its first one
// is the most recent.
std::int64_t stack_hits(const std::vector<Path>& paths, std::int64_t capacity) {
  std::vector<std::uint64_t> stack;  // most recent first
  std::int64_t hits = 0;
  for (const Path& path : paths) {
    for (const std::uint64_t block : path) {
      const auto at = std::ranges::find(stack, block);
      hits += at != stack.end() && at - stack.begin() < capacity;
    }
    for (auto block = path.rbegin(); block != path.rend(); ++block) {
      std::erase(stack, *block);
      stack.insert(stack.begin(), *block);
    }
  }
  return hits;
}

std::int64_t tree_hits(const std::vector<Path>& paths, std::int64_t capacity,
                       kv::RadixEviction policy) {
  kv::RadixTree tree({.page_size = 1, .policy = policy, .unit = kv::KeyUnit::token});
  std::int64_t hits = 0;
  for (const Path& path : paths) {
    kv::RadixKey key;
    for (const std::uint64_t content : path) key.append({content, 0, 1});
    const kv::RadixMatch match = tree.match(key.view());
    hits += match.length;
    tree.lock(match.node);
    const std::int64_t more = key.tokens() - match.length;
    if (tree.total() + more > capacity) tree.evict(tree.total() + more - capacity);
    REQUIRE(tree.total() + more <= capacity);
    tree.insert(key.view());
    tree.unlock(match.node);
  }
  return hits;
}

// Evicts what is used again last; counts a hit wherever the token is there.
std::int64_t belady_hits(const std::vector<Path>& paths, std::int64_t capacity) {
  std::vector<std::uint64_t> order;
  for (const Path& path : paths) order.insert(order.end(), path.begin(), path.end());
  std::map<std::uint64_t, std::size_t> next;  // of what is cached
  std::vector<std::size_t> following(order.size(), order.size());
  std::map<std::uint64_t, std::size_t> later;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto found = later.find(order[i]);
    if (found != later.end()) following[i] = found->second;
    later[order[i]] = i;
  }
  std::int64_t hits = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    hits += next.count(order[i]) == 1;
    next[order[i]] = following[i];
    if (static_cast<std::int64_t>(next.size()) <= capacity) continue;
    auto victim = next.begin();
    for (auto it = next.begin(); it != next.end(); ++it)
      if (it->first != order[i] && (victim->first == order[i] || it->second > victim->second))
        victim = it;
    next.erase(victim);
  }
  return hits;
}

}  // namespace

TEST_CASE("hits against capacity are those of the stack distances") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Path> paths = any_paths(seed, 120);
    std::int64_t before = 0;
    for (std::int64_t capacity = 8; capacity <= 120; capacity += 7) {
      CAPTURE(seed);
      CAPTURE(capacity);
      const std::int64_t hits = pool_hits(paths, capacity);
      CHECK(hits == stack_hits(paths, capacity));
      CHECK(hits >= before);  // a larger stack holds what a smaller one holds
      before = hits;
    }
    CHECK(before > 0);
  }
}

TEST_CASE("no eviction policy hits more than one that knows the future") {
  using enum kv::RadixEviction;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<Path> paths = any_paths(seed, 120);
    for (std::int64_t capacity = 8; capacity <= 80; capacity += 9) {
      const std::int64_t best = belady_hits(paths, capacity);
      CAPTURE(seed);
      CAPTURE(capacity);
      CHECK(best > 0);
      CHECK(pool_hits(paths, capacity) <= best);
      for (const kv::RadixEviction policy : {lru, lfu, fifo, filo, mru, slru, priority})
        CHECK(tree_hits(paths, capacity, policy) <= best);
    }
  }
}
