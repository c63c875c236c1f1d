#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

#include "kernels/host/launch_record.h"
#include "kernels/simt/planted/warp.cuh"

using namespace kvsim::kernels;

namespace {

float input(unsigned i) { return static_cast<float>(i + 1); }

// CUDA's rules for __shfl with a width: each segment of `width` lanes is a warp of its own.
struct Expected {
  float by_index, by_xor, down, up;
};
Expected shuffled(unsigned thread, int width) {
  const int lane = static_cast<int>(thread % 32), segment = lane / width * width,
            inside = lane % width;
  const auto value = [&](int from) {
    return input(thread / 32 * 32 + static_cast<unsigned>(from));
  };
  return {value(segment + (3 * static_cast<int>(thread) + 1) % width),
          (inside ^ 5) < width ? value(segment + (inside ^ 5)) : value(lane),
          inside + 3 < width ? value(lane + 3) : value(lane),
          inside - 2 >= 0 ? value(lane - 2) : value(lane)};
}

}  // namespace

TEST_SUITE("quick") {
  TEST_CASE("shuffles of every width follow the rule of segments") {
    for (const int width : {1, 2, 4, 8, 16, 32}) {
      CAPTURE(width);
      Lab lab({.schedule_seed = static_cast<std::uint64_t>(width)});
      REQUIRE(lab.run(cpu::shuffles, {.threads = 64, .choice = width}).empty());
      const auto out = lab.out();
      for (unsigned i = 0; i < 64; ++i) {
        CAPTURE(i);
        const Expected want = shuffled(i, width);
        CHECK(out[4 * i] == want.by_index);
        CHECK(out[4 * i + 1] == want.by_xor);
        CHECK(out[4 * i + 2] == want.down);
        CHECK(out[4 * i + 3] == want.up);
      }
    }
  }

  TEST_CASE("a shuffle of 64 bits keeps all of them") {
    Lab lab;
    REQUIRE(lab.run(cpu::wide_shuffle, {}).empty());
    const auto out = lab.out();
    for (unsigned i = 0; i < 32; ++i) CHECK(out[i] == static_cast<float>(i ^ 1U));
  }

  TEST_CASE("votes gather the predicates of the warp") {
    const std::uint32_t ballots[] = {0xaaaaaaaaU, 0xccccccccU, 0xf0f0f0f0U, 0xff00ff00U,
                                     0xffff0000U};
    for (int bit = 0; bit < 5; ++bit) {
      Lab lab({.schedule_seed = 9});
      REQUIRE(lab.run(cpu::votes, {.threads = 64, .choice = bit}).empty());
      const auto out = lab.out();
      for (std::size_t i = 0; i < 64; ++i) {
        CHECK(std::bit_cast<std::uint32_t>(out[3 * i]) == ballots[bit]);
        CHECK(out[3 * i + 1] == (i > 31 ? 1.0F : 0.0F));
        CHECK(out[3 * i + 2] == 0.0F);
      }
    }
    Lab lab;
    REQUIRE(lab.run(cpu::votes, {.choice = 6}).empty());
    CHECK(lab.out()[2] == 1.0F);
  }

  TEST_CASE("halves of a warp work apart with masks of their own") {
    for (const std::uint64_t seed : {0U, 1U, 2U}) {
      Lab lab({.schedule_seed = seed});
      REQUIRE(lab.run(cpu::half_warps, {.threads = 64}).empty());
      const auto out = lab.out();
      CHECK(out[3] == 136.0F);  // 1 + ... + 16
      CHECK(out[20] == 32.0F);
      CHECK(out[35] == 648.0F);  // 33 + ... + 48
      CHECK(out[63] == 64.0F);
    }
  }

  TEST_CASE("a short last warp takes part with the lanes that it has") {
    Lab lab;
    REQUIRE(lab.run(cpu::short_warp, {.threads = 40}).empty());
    const auto out = lab.out();
    CHECK(out[2 * 0 + 1] == 32.0F);
    CHECK(out[2 * 32] == 33 + 34 + 35 + 36 + 37 + 38 + 39 + 40);
    CHECK(out[2 * 39 + 1] == 8.0F);
  }

  TEST_CASE("named barriers join their own warps only") {
    for (const std::uint64_t seed : {0U, 4U, 5U}) {
      Lab lab({.schedule_seed = seed});
      REQUIRE(lab.run(cpu::named_barriers, {.threads = 128, .shared_bytes = 512}).empty());
      const auto out = lab.out();
      for (unsigned i = 0; i < 128; ++i) {
        const unsigned pair = i / 64, shift = 33 * (pair == 0 ? 3 : 5);
        CHECK(out[i] == input(64 * pair + (i + shift) % 64));
      }
    }
  }

  TEST_CASE("atomics of many blocks lose nothing with one worker or two") {
    for (const int workers : {1, 2}) {
      Lab lab({.workers = workers});
      REQUIRE(lab.run(cpu::atomics, {.threads = 64, .blocks = 8}).empty());
      const auto counter = lab.counter();
      CHECK(counter[0] == 512);
      CHECK(counter[1] == 511);
      CHECK(counter[2] == 1024);
      auto tickets = lab.out();
      std::sort(tickets.begin() + 64, tickets.begin() + 64 + 512);
      for (unsigned i = 0; i < 512; ++i) CHECK(tickets[64 + i] == static_cast<float>(2 * i));
    }
  }

  TEST_CASE("the last block sees what all blocks left") {
    for (const std::uint64_t seed : {0U, 6U, 7U})
      for (const int workers : {1, 2}) {
        Lab lab({.schedule_seed = seed, .workers = workers});
        REQUIRE(lab.run(cpu::last_block, {.threads = 64, .shared_bytes = 16, .blocks = 9}).empty());
        const auto out = lab.out();
        for (unsigned i = 0; i < 64; ++i) CHECK(out[i] == 45.0F + 9.0F * static_cast<float>(i));
      }
  }

  TEST_CASE("accounting counts each byte once and each access") {
    Lab lab({.count_bytes = true});
    lab.device().count_from_here();
    REQUIRE(lab.run(cpu::counted, {.threads = 32, .blocks = 4}).empty());
    const auto touched = lab.device().touched();
    REQUIRE(touched.has_value());
    CHECK(touched->unique_read == 128 * 16);
    CHECK(touched->total_read == 2 * 128 * 16);
    CHECK(touched->unique_written == 128 * 4);
    CHECK(touched->total_written == 128 * 4);
    lab.device().count_from_here();
    CHECK(lab.device().touched()->unique_read == 0);
    CHECK(!Lab().device().touched().has_value());
  }

  TEST_CASE("a launch record hears of every launch while it lives") {
    Lab lab;
    LaunchRecord outer;
    {
      const LaunchRecord inner;
      lab.run(cpu::last_block, {.threads = 64, .shared_bytes = 16, .blocks = 3});
      REQUIRE(inner.launches().size() == 1);
      CHECK(inner.launches()[0].threads == 64);
      CHECK(inner.launches()[0].shared_bytes == 16);
      CHECK(inner.launches()[0].grid.x == 3);
    }
    CHECK(outer.launches().empty());
    lab.run(cpu::short_warp, {});
    CHECK(outer.launches().size() == 1);
  }
}
