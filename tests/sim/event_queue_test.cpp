#include "sim/event_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <queue>
#include <random>
#include <vector>

#include "sim/clock.h"
#include "support/allocations.h"

using namespace kvsim;
using namespace kvsim::sim;

namespace {

struct Later {
  bool operator()(const Event& a, const Event& b) const { return before(b, a); }
};

std::vector<std::uint64_t> drain_sequences(EventQueue& queue) {
  std::vector<std::uint64_t> order;
  while (!queue.empty()) order.push_back(queue.pop().sequence());
  return order;
}

}  // namespace

TEST_CASE("the earlier time comes first whatever its kind") {
  EventQueue queue;
  queue.push(Time{20}, 0, 1);
  queue.push(Time{10}, 255, 2);
  CHECK(queue.pop().target == 2);
  CHECK(queue.pop().target == 1);
  CHECK(queue.empty());
}

TEST_CASE("at equal times the lower kind comes first") {
  EventQueue queue;
  queue.push(Time{10}, 2, 0);
  queue.push(Time{10}, 0, 0);
  queue.push(Time{10}, 1, 0);
  CHECK(drain_sequences(queue) == std::vector<std::uint64_t>{1, 2, 0});
}

TEST_CASE("at equal times and kinds the order of push is kept") {
  EventQueue queue;
  for (std::uint32_t i = 0; i < 1000; ++i) queue.push(Time{5}, 3, i, i * 2);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    REQUIRE(queue.top().target == i);
    const Event event = queue.pop();
    REQUIRE(event.target == i);
    REQUIRE(event.payload == i * 2);
    REQUIRE(event.kind() == 3);
    REQUIRE(event.time == Time{5});
  }
}

TEST_CASE("kind and sequence survive being packed together") {
  EventQueue queue;
  queue.push(Time{0}, 0, 0);
  queue.push(Time{0}, 255, 0);
  CHECK(queue.pop().kind() == 0);
  const Event event = queue.pop();
  CHECK(event.kind() == 255);
  CHECK(event.sequence() == 1);
}

TEST_CASE("all arrangements of up to six events leave in the total order") {
  // Times and kinds from {0, 1}: every way to fill a heap of one to six events, 4^1 to 4^6.
  for (int count = 1; count <= 6; ++count) {
    const int worlds = 1 << (2 * count);
    for (int world = 0; world < worlds; ++world) {
      EventQueue queue;
      std::vector<std::pair<int, std::uint64_t>> expected;
      for (int i = 0; i < count; ++i) {
        const int bits = (world >> (2 * i)) & 3;
        queue.push(Time{bits >> 1}, static_cast<std::uint8_t>(bits & 1), 0);
        expected.emplace_back(bits, static_cast<std::uint64_t>(i));
      }
      std::sort(expected.begin(), expected.end());
      for (const auto& [bits, sequence] : expected) REQUIRE(queue.pop().sequence() == sequence);
    }
  }
}

TEST_CASE("a queue filled at once leaves in sorted order") {
  std::mt19937_64 bits(7);
  for (const std::size_t count : {1u, 2u, 5u, 64u, 1000u, 20000u}) {
    EventQueue queue;
    std::vector<std::pair<std::pair<std::int64_t, int>, std::uint64_t>> expected;
    for (std::size_t i = 0; i < count; ++i) {
      const auto time = static_cast<std::int64_t>(bits() % (count / 2 + 1));
      const auto kind = static_cast<std::uint8_t>(bits() % 5);
      queue.push(Time{time}, kind, 0);
      expected.push_back({{time, kind}, i});
    }
    std::sort(expected.begin(), expected.end());
    REQUIRE(queue.size() == count);
    for (const auto& [key, sequence] : expected) {
      const Event event = queue.pop();
      REQUIRE(event.time == Time{key.first});
      REQUIRE(event.kind() == key.second);
      REQUIRE(event.sequence() == sequence);
    }
  }
}

TEST_CASE("mixed pushes and pops agree with the standard priority queue") {
  std::mt19937_64 bits(11);
  EventQueue queue;
  std::priority_queue<Event, std::vector<Event>, Later> reference;
  std::uint64_t pushed = 0;
  std::int64_t now = 0;
  for (int i = 0; i < 200000; ++i) {
    if (queue.empty() || bits() % 100 < 52) {
      const Time time{now + static_cast<std::int64_t>(bits() % 64)};
      const auto kind = static_cast<std::uint8_t>(bits() % 3);
      queue.push(time, kind, static_cast<std::uint32_t>(i));
      Event copy;
      copy.time = time;
      copy.rank = (std::uint64_t{kind} << Event::sequence_bits) | pushed++;
      copy.target = static_cast<std::uint32_t>(i);
      reference.push(copy);
    } else {
      const Event event = queue.pop();
      REQUIRE(event.rank == reference.top().rank);
      REQUIRE(event.target == reference.top().target);
      REQUIRE(event.time >= Time{now});
      reference.pop();
      now = event.time.nanoseconds();
    }
    REQUIRE(queue.size() == reference.size());
  }
}

TEST_CASE("a reserved queue allocates nothing") {
  EventQueue queue;
  queue.reserve(1024);
  const std::size_t before_loop = testing::allocations();
  for (std::uint32_t round = 0; round < 100; ++round) {
    for (std::uint32_t i = 0; i < 1024; ++i)
      queue.push(Time{std::int64_t{i * 7919} % 512}, static_cast<std::uint8_t>(i % 4), i);
    while (!queue.empty()) queue.pop();
  }
  CHECK(testing::allocations() == before_loop);
  CHECK(queue.capacity() == 1024);
}

TEST_CASE("the counter of allocations sees a vector grow") {
  const std::size_t before_growth = testing::allocations();
  EventQueue queue;
  queue.push(Time{1}, 0, 0);
  CHECK(testing::allocations() == before_growth + 1);
}

TEST_CASE("a clock goes forward and stays but never goes back") {
  Clock clock;
  CHECK(clock.now() == Time{0});
  CHECK(clock.advance_to(Time{5}));
  CHECK(clock.advance_to(Time{5}));
  CHECK_FALSE(clock.advance_to(Time{4}));
  CHECK(clock.now() == Time{5});
}
