#include "kernels/mla/plan.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/numbers/noise.h"

using namespace kvsim::kernels;

namespace {

std::int64_t cost(const MlaPart& part) {
  return std::max(1, (part.tokens + mla_tile_tokens - 1) / mla_tile_tokens);
}

// Every token of every sequence in exactly one part, in order; slots where there are several.
void check_covers(const MlaPlan& plan, const std::vector<std::int32_t>& lens) {
  std::size_t next = 0;
  std::int32_t slot = 0;
  for (std::size_t b = 0; b < lens.size(); ++b) {
    CHECK(plan.slot_first[b] == slot);
    const std::size_t first = next;
    std::int32_t token = 0;
    do {
      REQUIRE(next < plan.parts.size());
      const MlaPart& part = plan.parts[next++];
      CHECK(part.sequence == static_cast<std::int32_t>(b));
      CHECK(part.first_token == token);
      CHECK(part.first_token % mla_tile_tokens == 0);
      token += part.tokens;
    } while (token < lens[b]);
    CHECK(token == lens[b]);
    for (std::size_t p = first; p < next; ++p)
      CHECK(plan.parts[p].slot == (next - first == 1 ? -1 : slot++));
  }
  CHECK(next == plan.parts.size());
  CHECK(plan.slots() == slot);
}

}  // namespace

TEST_CASE("An MLA plan covers every token once in runs whose tiles differ by one at most") {
  for (std::uint64_t round = 0; round < 200; ++round) {
    std::vector<std::int32_t> lens(1 + noise_bits(1, round) % 9);
    for (std::size_t b = 0; b < lens.size(); ++b)
      lens[b] = static_cast<std::int32_t>(noise_bits(2, 16 * round + b) % 500);
    if (round % 5 == 0) lens[0] = 0;
    const int blocks = 1 + static_cast<int>(noise_bits(3, round) % 12);
    const MlaPlan plan = plan_mla(lens, blocks, 1);
    check_covers(plan, lens);

    REQUIRE(plan.runs() >= 1);
    CHECK(plan.runs() <= blocks);
    std::int64_t least = 1 << 30, most = 0;
    for (std::size_t r = 0; r + 1 < plan.run_first.size(); ++r) {
      std::int64_t tiles = 0;
      int partial = 0;
      for (auto p = plan.run_first[r]; p < plan.run_first[r + 1]; ++p) {
        tiles += cost(plan.parts[static_cast<std::size_t>(p)]);
        partial += plan.parts[static_cast<std::size_t>(p)].slot >= 0 ? 1 : 0;
      }
      least = std::min(least, tiles);
      most = std::max(most, tiles);
      CHECK(partial <= 2);
    }
    CHECK(most - least <= 1);
    CHECK(static_cast<std::size_t>(plan.run_first.back()) == plan.parts.size());
  }
}

TEST_CASE("An MLA plan gives no run fewer tiles than asked while the batch has as many") {
  const std::vector<std::int32_t> lens{32 * 100, 32 * 5};
  const MlaPlan plan = plan_mla(lens, 132, 8);
  CHECK(plan.runs() == 13);
  CHECK(plan_mla(std::vector<std::int32_t>{5}, 132, 8).runs() == 1);
}
