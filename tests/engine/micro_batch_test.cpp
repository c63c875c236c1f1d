#include "engine/profiles/trtllm/micro_batch.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace kvsim::engine;

namespace {

constexpr MicroBatchLimits chunked{8, 100, true, ContextChunkingPolicy::first_come_first_served,
                                   16};

MicroBatchItem decode() { return {false, 1, 0}; }
MicroBatchItem context(std::int64_t tokens) { return {true, tokens, 0}; }

std::vector<std::int64_t> fill(std::vector<MicroBatchItem> items, const MicroBatchLimits& limits,
                               MicroBatchEnd end) {
  CHECK(fill_micro_batch(items, limits) == end);
  std::vector<std::int64_t> tokens;
  for (const MicroBatchItem& item : items) tokens.push_back(item.tokens);
  return tokens;
}

using Tokens = std::vector<std::int64_t>;

}  // namespace

TEST_SUITE("engine/micro_batch") {
  TEST_CASE("contexts that fit are computed whole beside the generations") {
    CHECK(fill({decode(), context(40), decode(), context(58)}, chunked, MicroBatchEnd::all_fit) ==
          Tokens{1, 40, 1, 58});
  }

  TEST_CASE("first come first served gives each context all it can in whole blocks") {
    CHECK(fill({context(70), decode(), context(50), context(5)}, chunked,
               MicroBatchEnd::max_num_tokens) == Tokens{70, 1, 16, 5});
    CHECK(fill({context(300), context(50)}, chunked, MicroBatchEnd::max_num_tokens) ==
          Tokens{96, 0});
  }

  TEST_CASE("generations come before chunks however late they stand in the list") {
    std::vector<MicroBatchItem> items{context(300)};
    for (int i = 0; i < 7; ++i) items.push_back(decode());
    CHECK(fill(items, chunked, MicroBatchEnd::max_num_tokens) == Tokens{80, 1, 1, 1, 1, 1, 1, 1});
  }

  TEST_CASE("equal progress adds a block to each context per round") {
    MicroBatchLimits l = chunked;
    l.policy = ContextChunkingPolicy::equal_progress;
    CHECK(fill({context(200), context(20), context(200)}, l, MicroBatchEnd::max_num_tokens) ==
          Tokens{48, 20, 32});
    // What one leaves goes to those whose unit still fits.
    CHECK(fill({context(500), context(5)}, l, MicroBatchEnd::max_num_tokens) == Tokens{80, 5});
    CHECK(fill({context(40), context(40)}, l, MicroBatchEnd::all_fit) == Tokens{40, 40});
  }

  TEST_CASE("without chunking the first context that does not fit ends the batch") {
    MicroBatchLimits l = chunked;
    l.chunked_context = false;
    CHECK(fill({context(60), context(50), decode()}, l, MicroBatchEnd::max_num_tokens) ==
          Tokens{60, 0, 0});
    CHECK(fill({decode(), context(60), decode()}, l, MicroBatchEnd::all_fit) == Tokens{1, 60, 1});
  }

  TEST_CASE("the batch ends at its size") {
    MicroBatchLimits l = chunked;
    l.max_batch_size = 2;
    CHECK(fill({decode(), decode(), decode()}, l, MicroBatchEnd::max_batch_size) ==
          Tokens{1, 1, 0});
    CHECK(fill({decode(), decode()}, l, MicroBatchEnd::all_fit) == Tokens{1, 1});
    CHECK(fill({context(300), decode(), decode()}, l, MicroBatchEnd::max_num_tokens) ==
          Tokens{96, 1, 0});
  }

  TEST_CASE("a batch never exceeds its limits and cuts prompts only at blocks") {
    std::mt19937 random(3);
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    for (int round = 0; round < 3000; ++round) {
      MicroBatchLimits l{draw(1, 6), draw(4, 80), draw(0, 1) == 1,
                         static_cast<ContextChunkingPolicy>(draw(0, 1)), draw(1, 8)};
      std::vector<MicroBatchItem> items;
      for (int i = draw(1, 9); i > 0; --i)
        items.push_back(draw(0, 1) ? decode() : context(draw(1, 60)));
      fill_micro_batch(items, l);
      std::int64_t tokens = 0, size = 0;
      for (const MicroBatchItem& item : items) {
        tokens += item.tokens;
        size += item.tokens > 0;
        const bool whole = item.tokens == item.wanted || item.tokens == 0;
        CHECK((whole || (item.context && l.chunked_context && item.tokens % l.chunk_unit == 0)));
      }
      CHECK(tokens <= l.max_num_tokens);
      CHECK(size <= l.max_batch_size);
    }
  }
}
