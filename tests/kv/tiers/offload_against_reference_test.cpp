#include <doctest/doctest.h>

#include <random>
#include <string>

#include "kv/tiers/offload_manager.h"
#include "kv/tiers/offload_reference.h"

using namespace kvsim::kv;
using kvsim::testing::ReferenceOffload;

namespace {

using Keys = std::vector<BlockHash>;
using Presence = OffloadManager::Presence;

// Both managers, given the same operations and compared after each.
class Pair {
 public:
  Pair(int blocks, OffloadPolicy policy, int threshold, int tracked)
      : fast({blocks, policy, threshold, tracked}),
        slow(blocks, policy == OffloadPolicy::arc, threshold, static_cast<std::size_t>(tracked)) {}

  // One of seven operations on keys below `keys`, from `next()`, which gives numbers below its
  // argument.
  template <class Next>
  void step(int keys, Next next) {
    const int what = next(7);
    Keys chosen;
    const auto pick = [&](auto holds) {
      for (int key = 0; key < keys; ++key)
        if (next(2) == 1 && holds(static_cast<BlockHash>(key)))
          chosen.push_back(static_cast<BlockHash>(key));
    };
    const auto any = [](BlockHash) { return true; };
    switch (what) {
      case 0:
        pick(any);
        for (const BlockHash key : chosen) {
          fast.lookup(key);
          slow.lookup(key);
        }
        break;
      case 1:
        pick(any);
        fast.touch(chosen);
        slow.touch(chosen);
        break;
      case 2: {
        pick(any);
        OffloadManager::Store store;
        const bool ok = fast.prepare_store(chosen, store);
        const auto expected = slow.prepare_store(chosen);
        CHECK(ok == expected.has_value());
        if (!expected) break;
        CHECK(store.keys == expected->keys);
        CHECK(store.evicted == expected->evicted);
        CHECK(store.blocks ==
              std::vector<BlockId>(expected->blocks.begin(), expected->blocks.end()));
        break;
      }
      case 3: {
        pick([&](BlockHash key) { return fast.presence(key) == Presence::pending; });
        const bool success = next(4) > 0;
        fast.complete_store(chosen,
                            success ? OffloadManager::Copy::done : OffloadManager::Copy::failed);
        slow.complete_store(chosen, success);
        break;
      }
      case 4: {
        pick([&](BlockHash key) { return fast.presence(key) == Presence::hit; });
        std::vector<BlockId> ids;
        fast.prepare_load(chosen, ids);
        slow.prepare_load(chosen);
        for (std::size_t i = 0; i < chosen.size(); ++i)
          CHECK(ids[i] == slow.blocks.at(chosen[i]).id);
        break;
      }
      case 5:
        pick([&](BlockHash key) { return fast.loads(key) > 0; });
        fast.complete_load(chosen);
        slow.complete_load(chosen);
        break;
      default:
        if (next(8) > 0) break;
        fast.reset();
        slow.reset();
    }
  }

  void compare(int keys) const {
    using List = OffloadManager::List;
    fast.verify();
    CHECK(fast.keys(List::recency) == slow.lru);
    CHECK(fast.keys(List::t1) == slow.t1);
    CHECK(fast.keys(List::t2) == slow.t2);
    CHECK(fast.keys(List::b1) == slow.b1);
    CHECK(fast.keys(List::b2) == slow.b2);
    CHECK(fast.target_t1() == slow.target);
    CHECK(fast.free() == slow.free());
    CHECK(fast.idle() == slow.count([](const ReferenceOffload::Block& b) {
      return b.state == ReferenceOffload::State::ready && b.loads == 0;
    }));
    CHECK(fast.pending() == slow.count([](const ReferenceOffload::Block& b) {
      return b.state == ReferenceOffload::State::pending;
    }));
    for (int key = 0; key < keys; ++key) {
      const auto found = slow.blocks.find(static_cast<BlockHash>(key));
      const Presence expected = found == slow.blocks.end() ? Presence::miss
                                : found->second.state == ReferenceOffload::State::ready
                                    ? Presence::hit
                                    : Presence::pending;
      CHECK(fast.presence(static_cast<BlockHash>(key)) == expected);
    }
  }

  OffloadManager fast;
  ReferenceOffload slow;
};

void random_world(OffloadPolicy policy, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto next = [&](int below) {
    return static_cast<int>(random() % static_cast<std::uint64_t>(below));
  };
  const int keys = 2 + next(14);
  Pair pair(1 + next(8), policy, next(4), 1 + next(12));
  for (int step = 0; step < 200; ++step) {
    CAPTURE(seed);
    CAPTURE(step);
    pair.step(keys, next);
    pair.compare(keys);
  }
}

// Every sequence of so many choices: next() counts through them like an odometer.
class Odometer {
 public:
  int operator()(int below) {
    if (at_ == digits_.size()) digits_.push_back({0, below});
    digits_[at_].below = below;
    return digits_[at_++].value;
  }
  // The next sequence; false after the last one.
  bool advance() {
    digits_.resize(at_);
    at_ = 0;
    while (!digits_.empty() && ++digits_.back().value == digits_.back().below) digits_.pop_back();
    return !digits_.empty();
  }

 private:
  struct Digit {
    int value, below;
  };
  std::vector<Digit> digits_;
  std::size_t at_ = 0;
};

}  // namespace

TEST_SUITE("kv/offload against its reference") {
  TEST_CASE("with LRU random histories agree after every operation") {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) random_world(OffloadPolicy::lru, seed);
  }

  TEST_CASE("with ARC random histories agree after every operation") {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) random_world(OffloadPolicy::arc, seed);
  }

  TEST_CASE("every short history of two keys and one block agrees") {
    for (const OffloadPolicy policy : {OffloadPolicy::lru, OffloadPolicy::arc}) {
      Odometer odometer;
      const auto next = [&](int below) { return odometer(below); };
      int histories = 0;
      do {
        Pair pair(1, policy, 0, 4);
        for (int step = 0; step < 3; ++step) pair.step(2, next);
        pair.compare(2);
        ++histories;
      } while (odometer.advance());
      CHECK(histories > 1000);
    }
  }
}
