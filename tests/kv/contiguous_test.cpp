#include <doctest/doctest.h>

#include <bit>
#include <functional>
#include <vector>

#include "kv/contiguous/allocator.h"

using namespace kvsim::kv;

namespace {

// Both allocators on an array of slots, written for reading.
class Naive {
 public:
  explicit Naive(std::int64_t slots) : taken_(static_cast<std::size_t>(slots)) {}

  // The lowest place with n free slots.
  std::optional<Extent> first_fit(std::int64_t n) {
    for (std::int64_t start = 0; start + n <= slots(); ++start)
      if (is_free(start, n)) return take(start, n);
    return std::nullopt;
  }
  // The smallest free block that no larger free block contains, the lowest of its size.
  std::optional<Extent> buddy(std::int64_t n) {
    const auto size = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
    for (std::int64_t block = size; block <= slots(); block *= 2)
      for (std::int64_t start = 0; start + block <= slots(); start += block)
        if (is_free(start, block) && !is_free(start / (2 * block) * 2 * block, 2 * block))
          return take(start, size);
    return std::nullopt;
  }
  void release(const Extent& e) { mark(e, false); }
  std::int64_t held() const {
    std::int64_t count = 0;
    for (const bool t : taken_) count += t;
    return count;
  }

 private:
  std::int64_t slots() const { return static_cast<std::int64_t>(taken_.size()); }
  bool is_free(std::int64_t start, std::int64_t n) const {
    if (start + n > slots()) return false;
    for (std::int64_t i = start; i < start + n; ++i)
      if (taken_[static_cast<std::size_t>(i)]) return false;
    return true;
  }
  Extent take(std::int64_t start, std::int64_t n) {
    mark({start, n}, true);
    return {start, n};
  }
  void mark(const Extent& e, bool value) {
    for (std::int64_t i = e.start; i < e.start + e.size; ++i)
      taken_[static_cast<std::size_t>(i)] = value;
  }
  std::vector<bool> taken_;
};

enum class Kind { first_fit, buddy };

std::unique_ptr<ContiguousAllocator> make(Kind kind, std::int64_t slots) {
  return kind == Kind::buddy ? make_buddy(slots) : make_first_fit(slots);
}

// One step of a script: a positive number allocates so many slots, -k releases the k-th extent
// held. Answers the number of extents held at the end, and compares after the last step.
std::size_t replay(Kind kind, std::int64_t slots, const std::vector<int>& script) {
  const auto allocator = make(kind, slots);
  Naive naive(slots);
  std::vector<Extent> held;
  for (const int step : script) {
    if (step < 0) {
      const auto at = held.begin() + (-step - 1);
      allocator->release(*at);
      naive.release(*at);
      held.erase(at);
      continue;
    }
    const auto got = allocator->allocate(step);
    const auto expected = kind == Kind::buddy ? naive.buddy(step) : naive.first_fit(step);
    if (got.has_value() != expected.has_value()) FAIL("one finds room and the other does not");
    if (!got) continue;
    if (got->start != expected->start || got->size != expected->size)
      FAIL("placed at ", got->start, " instead of ", expected->start);
    held.push_back(*got);
  }
  allocator->verify();
  if (allocator->held() != naive.held()) FAIL("held ", allocator->held());
  return held.size();
}

// Every script of up to `depth` steps with sizes 1 to `largest`.
void explore(Kind kind, std::int64_t slots, int depth, int largest, std::vector<int>& script,
             std::int64_t& worlds) {
  const std::size_t held = replay(kind, slots, script);
  ++worlds;
  if (depth == 0) return;
  for (int step = -static_cast<int>(held); step <= largest; ++step) {
    if (step == 0) continue;
    script.push_back(step);
    explore(kind, slots, depth - 1, largest, script, worlds);
    script.pop_back();
  }
}

}  // namespace

TEST_CASE("both contiguous allocators agree with naive ones in every small world") {
  for (const Kind kind : {Kind::first_fit, Kind::buddy}) {
    std::int64_t worlds = 0;
    for (std::int64_t slots = 1; slots <= 11; ++slots) {
      std::vector<int> script;
      explore(kind, slots, 5, 5, script, worlds);
    }
    CHECK(worlds > 60'000);
  }
}

TEST_CASE("exact placement holds what was asked for and takes the lowest hole") {
  const auto a = make_first_fit(10);
  const Extent first = *a->allocate(3), second = *a->allocate(4);
  CHECK(second.start == 3);
  a->release(first);
  CHECK(a->held() == 4);
  CHECK(a->allocate(2)->start == 0);
  CHECK(a->allocate(3)->start == 7);
  // Two slots are free, one here and one there.
  CHECK_FALSE(a->allocate(2).has_value());
}

TEST_CASE("a buddy allocator rounds sizes up and joins what is released") {
  const auto b = make_buddy(16);
  const Extent five = *b->allocate(5), one = *b->allocate(1);
  CHECK(five.size == 8);
  CHECK(one.start == 8);
  CHECK(one.size == 1);
  CHECK_FALSE(b->allocate(9).has_value());
  b->release(five);
  b->release(one);
  CHECK(b->allocate(16)->start == 0);
}

TEST_CASE("a buddy pool of any size is the blocks of its binary digits") {
  const auto b = make_buddy(15700);
  CHECK(b->largest() == 8192);
  int blocks = 0;
  while (b->allocate(1024)) ++blocks;
  CHECK(blocks == 15);
  CHECK(b->held() == 15 * 1024);
  CHECK(b->allocate(256)->start == 15360);
  b->verify();
}

TEST_CASE("an extent that is released twice is caught") {
  for (const Kind kind : {Kind::first_fit, Kind::buddy}) {
    const auto a = make(kind, 8);
    const Extent e = *a->allocate(2);
    a->release(e);
    CHECK_THROWS([&] {
      a->release(e);
      a->verify();
    }());
  }
}
