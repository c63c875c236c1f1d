#include "kv/block_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <list>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

using namespace kvsim::kv;

namespace {

void release(BlockPool& pool, BlockId block) { pool.release(std::array{block}); }

// A block that carries `hash` and is held once.
BlockId published(BlockPool& pool, BlockHash hash) {
  const BlockId block = pool.allocate();
  pool.publish(block, hash);
  return block;
}

constexpr int rounds = 2000;  // duplicates of each of three hashes
// Hashes of one bucket in every pool of up to 8192 blocks.
constexpr BlockHash hash_of(BlockHash i) { return 9 + 8192 * i; }

// The same pool written for reading: a list of free blocks and a list of who carries what, in the
// order of publication.
class NaivePool {
 public:
  explicit NaivePool(BlockId num_blocks) : references_(static_cast<std::size_t>(num_blocks)) {
    for (BlockId b = 1; b < num_blocks; ++b) queue_.push_back(b);
  }
  bool full() const { return queue_.empty(); }
  std::vector<BlockId> queue() const { return {queue_.begin(), queue_.end()}; }
  int references(BlockId b) const { return references_[static_cast<std::size_t>(b)]; }
  std::vector<BlockId> carriers(BlockHash hash) const {
    std::vector<BlockId> blocks;
    for (const auto& [b, h] : published_)
      if (h == hash) blocks.push_back(b);
    return blocks;
  }
  BlockHash hash(BlockId block) const {
    for (const auto& [b, h] : published_)
      if (b == block) return h;
    return 0;
  }
  BlockId allocate() {
    const BlockId block = queue_.front();
    queue_.pop_front();
    std::erase_if(published_, [&](const auto& entry) { return entry.first == block; });
    references_[static_cast<std::size_t>(block)] = 1;
    return block;
  }
  void touch(BlockId b) {
    if (references_[static_cast<std::size_t>(b)]++ == 0) queue_.remove(b);
  }
  void release(BlockId b) {
    if (--references_[static_cast<std::size_t>(b)] > 0) return;
    queue_.insert(hash(b) == 0 ? queue_.begin() : queue_.end(), b);
  }
  void publish(BlockId b, BlockHash h) { published_.emplace_back(b, h); }

 private:
  std::list<BlockId> queue_;
  std::vector<int> references_;
  std::vector<std::pair<BlockId, BlockHash>> published_;
};

// Which of several blocks with one hash an eviction took.
struct Places {
  int alone = 0, oldest = 0, middle = 0, newest = 0;
  void count(const std::vector<BlockId>& carriers, BlockId taken) {
    if (carriers.empty()) return;
    if (carriers.size() == 1)
      ++alone;
    else if (carriers.front() == taken)
      ++oldest;
    else if (carriers.back() == taken)
      ++newest;
    else
      ++middle;
  }
};

}  // namespace

TEST_SUITE("kv/block_pool") {
  TEST_CASE("of blocks with one hash the oldest is found and after its eviction the next oldest") {
    BlockPool pool(5);
    const BlockId a = published(pool, 9), b = published(pool, 9), c = published(pool, 9);
    CHECK(pool.find(9) == a);
    const BlockId last = pool.allocate();
    release(pool, a);
    CHECK(pool.find(9) == a);
    CHECK(pool.allocate() == a);
    CHECK(pool.find(9) == b);
    pool.publish(a, 9);
    release(pool, c);
    CHECK(pool.allocate() == c);
    CHECK(pool.find(9) == b);
    release(pool, b);
    CHECK(pool.allocate() == b);
    CHECK(pool.find(9) == a);
    release(pool, a);
    CHECK(pool.allocate() == a);
    CHECK(pool.find(9) == no_block);
    CHECK(pool.evictions() == 4);
    CHECK(pool.hash(last) == 0);
    pool.verify();
  }

  TEST_CASE("publishing follows one link per other hash of the bucket whatever the duplicates") {
    BlockPool pool(3 * rounds + 1);
    for (int n = 0; n < rounds; ++n) {
      for (const BlockHash others : {0U, 1U, 2U}) {
        const std::int64_t before = pool.index_steps();
        published(pool, hash_of(others));
        REQUIRE(pool.index_steps() - before == static_cast<std::int64_t>(others));
      }
    }
    for (const BlockHash h : {0U, 1U, 2U}) CHECK(pool.find(hash_of(h)) == static_cast<int>(h) + 1);
    pool.verify();
  }

  TEST_CASE("evicting follows at most one link per other hash of the bucket in every order") {
    std::mt19937_64 rng(20261130);
    std::vector<BlockId> order(3 * rounds);
    std::iota(order.begin(), order.end(), 1);
    const auto evict_all = [&] {
      BlockPool pool(3 * rounds + 1);
      for (int n = 0; n < 3 * rounds; ++n) published(pool, hash_of(static_cast<BlockHash>(n) % 3));
      pool.release(order);
      for (int n = 0; n < 3 * rounds; ++n) {
        const std::int64_t before = pool.index_steps();
        pool.allocate();
        REQUIRE(pool.index_steps() - before <= 2);
      }
      CHECK(pool.evictions() == 3 * rounds);
      for (const BlockHash h : {0U, 1U, 2U}) CHECK(pool.find(hash_of(h)) == no_block);
    };
    evict_all();
    std::ranges::reverse(order);
    evict_all();
    std::ranges::shuffle(order, rng);
    evict_all();
  }

  TEST_CASE("random duplicates are found in the order of the naive pool after every operation") {
    std::mt19937_64 rng(20261201);
    const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
    Places places;
    for (int round = 0; round < 100; ++round) {
      const auto num_blocks = static_cast<BlockId>(3 + pick(24));
      // A step of 64 puts all hashes into one bucket.
      const BlockHash step = pick(2) == 0 ? 64 : 1;
      const std::size_t hashes = 1 + pick(4);
      BlockPool pool(num_blocks);
      NaivePool naive(num_blocks);
      std::vector<BlockId> held;
      for (int op = 0; op < 300; ++op) {
        const std::size_t kind = pick(8);
        const BlockHash hash = 1 + step * pick(hashes);
        if (kind < 4 && !naive.full()) {
          const BlockId next = naive.queue().front();
          const BlockHash gone = naive.hash(next);
          if (gone != 0) places.count(naive.carriers(gone), next);
          const BlockId block = naive.allocate();
          REQUIRE(pool.allocate() == block);
          held.push_back(block);
          if (kind > 0) {
            pool.publish(block, hash);
            naive.publish(block, hash);
          }
        } else if (kind == 4) {
          // Any of the carriers, so that the rest is evicted from every place.
          const auto carriers = naive.carriers(hash);
          if (carriers.empty()) continue;
          const BlockId block = carriers[pick(carriers.size())];
          pool.touch(block);
          naive.touch(block);
          held.push_back(block);
        } else if (!held.empty()) {
          const auto at = held.begin() + static_cast<std::ptrdiff_t>(pick(held.size()));
          release(pool, *at);
          naive.release(*at);
          held.erase(at);
        }
        for (std::size_t i = 0; i < hashes; ++i) {
          const auto carriers = naive.carriers(1 + step * i);
          REQUIRE(pool.find(1 + step * i) == (carriers.empty() ? no_block : carriers.front()));
        }
        for (BlockId b = 1; b < num_blocks; ++b) REQUIRE(pool.hash(b) == naive.hash(b));
        REQUIRE(pool.queue() == naive.queue());
        pool.verify();
      }
    }
    for (const int seen : {places.alone, places.oldest, places.middle, places.newest})
      CHECK(seen > 100);
  }
}

TEST_CASE("Blocks without a hash go before the free queue in the order of their release") {
  BlockPool pool(6);
  std::vector<BlockId> held;
  for (int i = 0; i < 5; ++i) held.push_back(pool.allocate());
  pool.publish(held[1], 77);
  pool.release(std::array{held[4]});
  pool.release(std::array{held[3], held[2], held[1], held[0]});
  CHECK(pool.queue() == std::vector<BlockId>{4, 3, 1, 5, 2});
  pool.verify();
}

TEST_CASE("A block is found by the hash of its tail until it is taken") {
  BlockPool pool(4, BlockPool::Tails::kept);
  const BlockId block = pool.allocate();
  pool.publish_tail(block, 5);
  CHECK(pool.find(5) == block);
  CHECK(pool.cached(block));
  pool.publish(block, 6);
  const BlockId twin = pool.allocate();
  pool.publish(twin, 5);
  CHECK(pool.find(5) == block);
  CHECK(pool.find(6) == block);
  pool.verify();
  release(pool, block);
  CHECK(pool.queue() == std::vector<BlockId>{3, 1});
  pool.allocate();
  CHECK(pool.find(5) == block);
  CHECK(pool.evictions() == 0);
  CHECK(pool.allocate() == block);
  CHECK(pool.evictions() == 1);
  CHECK(pool.find(5) == twin);
  CHECK(pool.find(6) == no_block);
  pool.verify();
}
