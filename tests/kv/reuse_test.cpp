#include "kv/reuse/reuse_pool.h"

#include <doctest/doctest.h>

#include "kv/reuse_sequence.h"

using namespace kvsim::kv;
using kvsim::testing::Sequence;

namespace {

ReusePool::Options options(std::int64_t blocks, std::int64_t host = 0) {
  ReusePool::Options o;
  o.num_blocks = blocks;
  o.host_blocks = host;
  o.block_tokens = 4;
  return o;
}

// Admits, computes and stores a whole sequence, then gives it back. Answers what it found.
ReusePool::Admission serve(ReusePool& pool, Sequence s) {
  BlockTable table;
  const auto found = pool.admit(table, s.key());
  pool.store(table, s.key(), s.tokens(), ReusePool::Tail::with_partial);
  pool.release(table);
  pool.verify();
  return found;
}

}  // namespace

TEST_SUITE("kv/reuse") {
  TEST_CASE("a sequence finds its full blocks and the part of one more but not its last token") {
    ReusePool pool(options(20));
    CHECK(serve(pool, Sequence({{1, 0, 10}})).hit == 0);
    CHECK(serve(pool, Sequence({{1, 0, 10}})).hit == 9);
    CHECK(serve(pool, Sequence({{1, 0, 8}})).hit == 7);
    CHECK(serve(pool, Sequence({{1, 0, 9}})).hit == 8);
    CHECK(serve(pool, Sequence({{1, 0, 6}, {2, 0, 6}})).hit == 6);
    CHECK(serve(pool, Sequence({{2, 0, 9}})).hit == 0);
    CHECK(serve(pool, Sequence({{1, 0, 10}}, 77)).hit == 0);
  }

  TEST_CASE("without partial reuse only full blocks are found") {
    ReusePool::Options o = options(20);
    o.partial_reuse = false;
    ReusePool pool(o);
    serve(pool, Sequence({{1, 0, 10}}));
    CHECK(serve(pool, Sequence({{1, 0, 10}})).hit == 8);
    CHECK(serve(pool, Sequence({{1, 0, 8}})).hit == 4);
  }

  TEST_CASE("without copying a partial block is taken over where nobody uses it") {
    ReusePool::Options o = options(20);
    o.copy_on_partial_reuse = false;
    ReusePool pool(o);
    Sequence first({{1, 0, 6}});
    BlockTable table;
    pool.admit(table, first.key());
    pool.store(table, first.key(), 6, ReusePool::Tail::with_partial);
    // In use: not touched.
    CHECK(serve(pool, Sequence({{1, 0, 6}, {3, 0, 9}})).hit == 4);
    pool.release(table);
    // Free now: its block belongs to the next one, and the tree has lost it.
    Sequence second({{1, 0, 6}, {2, 0, 3}});
    BlockTable taken;
    CHECK(pool.admit(taken, second.key()).hit == 6);
    CHECK(serve(pool, Sequence({{1, 0, 6}, {4, 0, 1}})).hit == 4);
    pool.release(taken);
    pool.verify();
  }

  TEST_CASE("two requests that run share full blocks and copy the partial one") {
    ReusePool pool(options(20));
    Sequence a({{1, 0, 10}}), b({{1, 0, 10}, {2, 0, 3}});
    BlockTable x, y;
    pool.admit(x, a.key());
    CHECK(pool.first_missing(b.key()) == a.key().chain->block_hash(0));
    pool.store(x, a.key(), 10, ReusePool::Tail::full_blocks);
    CHECK(pool.admit(y, b.key()).hit == 8);
    CHECK(x.blocks[0] == y.blocks[0]);
    CHECK(x.blocks[1] == y.blocks[1]);
    CHECK(x.blocks[2] != y.blocks[2]);
    CHECK(pool.free() == 20 - 5);
    pool.release(x);
    CHECK(pool.free() == 20 - 4);
    pool.release(y);
    CHECK(pool.free() == 20);
    pool.verify();
  }

  TEST_CASE("the least recently released leaf goes first and a path from its end") {
    ReusePool pool(options(4));
    serve(pool, Sequence({{1, 0, 8}}));
    serve(pool, Sequence({{2, 0, 8}}));
    CHECK(pool.evictions() == 0);
    serve(pool, Sequence({{3, 0, 4}}));
    CHECK(pool.evictions() == 1);
    CHECK(serve(pool, Sequence({{1, 0, 5}})).hit == 4);
    ReusePool other(options(4));
    serve(other, Sequence({{1, 0, 8}}));
    serve(other, Sequence({{2, 0, 8}}));
    serve(other, Sequence({{3, 0, 8}}));
    CHECK(serve(other, Sequence({{2, 0, 5}})).hit == 4);
    CHECK(serve(other, Sequence({{1, 0, 5}})).hit == 0);
  }

  TEST_CASE("blocks of the lowest retention priority go first whatever their age") {
    ReusePool::Options o = options(5);
    o.retention.ranges = {{0, 4, 90}, {4, -1, 10}};
    ReusePool pool(o);
    serve(pool, Sequence({{1, 0, 8}}));
    serve(pool, Sequence({{2, 0, 8}}));
    // The fifth block is unused and of default priority: both second blocks go before it.
    serve(pool, Sequence({{3, 0, 8}}));
    CHECK(pool.evictions() == 2);
    CHECK(serve(pool, Sequence({{1, 0, 5}})).hit == 4);
    CHECK(serve(pool, Sequence({{2, 0, 5}})).hit == 4);
    CHECK(o.retention.priority_at(4, 4) == default_priority);
  }

  TEST_CASE("evicted blocks move to the host and come back with what they held") {
    ReusePool pool(options(4, 8));
    serve(pool, Sequence({{1, 0, 13}}));
    serve(pool, Sequence({{2, 0, 16}}));
    CHECK(pool.evictions() == 0);
    CHECK(pool.host_used() == 4);
    const auto back = serve(pool, Sequence({{1, 0, 13}}));
    CHECK(back.hit == 12);
    CHECK(back.loaded == 12);
    CHECK(pool.evictions() == 0);
    CHECK(serve(pool, Sequence({{1, 0, 9}})).loaded == 0);
  }

  TEST_CASE("blocks of too low a priority are dropped and a full host gives its oldest up") {
    ReusePool::Options o = options(2, 2);
    o.secondary_offload_min_priority = 36;
    ReusePool dropping(o);
    serve(dropping, Sequence({{1, 0, 8}}));
    serve(dropping, Sequence({{2, 0, 8}}));
    CHECK(dropping.host_used() == 0);
    CHECK(dropping.evictions() == 2);
    ReusePool pool(options(2, 2));
    serve(pool, Sequence({{1, 0, 8}}));
    serve(pool, Sequence({{2, 0, 8}}));
    CHECK(pool.host_used() == 2);
    serve(pool, Sequence({{3, 0, 8}}));
    CHECK(pool.host_used() == 2);
    CHECK(pool.evictions() == 2);
    CHECK(serve(pool, Sequence({{2, 0, 8}})).loaded == 7);
  }

  TEST_CASE("a pool full of what a request needs holds it without room for a copy") {
    ReusePool pool(options(2));
    serve(pool, Sequence({{1, 0, 8}}));
    const auto again = serve(pool, Sequence({{1, 0, 8}}));
    CHECK(again.hit == 7);
    CHECK(pool.free() == 2);
  }

  TEST_CASE("with reuse off nothing is stored") {
    ReusePool::Options o = options(6);
    o.reuse = false;
    ReusePool pool(o);
    serve(pool, Sequence({{1, 0, 12}}));
    CHECK(serve(pool, Sequence({{1, 0, 12}})).hit == 0);
    CHECK(pool.evictions() == 0);
  }
}
