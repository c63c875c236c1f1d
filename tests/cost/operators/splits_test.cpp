#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cost/operators/splits.h"

using namespace kvsim::cost;

namespace {

// FlashAttention's loop over every count, up to four waves of CTAs.
int searched(int work, int tiles, int slots, Counts counts) {
  if (work >= 0.8 * slots) return 1;
  const int most = std::min({128, tiles, slots});
  const auto ceil_of = [](int a, int b) { return (a + b - 1) / b; };
  const auto fits = [&](int s) {
    const bool shorter = s == 1 || ceil_of(tiles, s) != ceil_of(tiles, s - 1);
    return work * s <= 4 * slots && (counts == Counts::any || shorter);
  };
  const auto filled = [&](int s) {
    return double(work * s) / slots / std::ceil(double(work * s) / slots);
  };
  double best = 0;
  for (int s = 1; s <= most; ++s)
    if (fits(s)) best = std::max(best, filled(s));
  for (int s = 1; s <= most; ++s)
    if (fits(s) && filled(s) >= 0.85 * best - 1e-12) return s;
  return 1;
}

}  // namespace

TEST_CASE("the closed choice of splits is that of a search over all counts") {
  for (const int slots : {108, 132, 216, 284})
    for (int work = 1; work < slots; work += work < 12 ? 1 : 7)
      for (const int tiles : {1, 2, 3, 5, 8, 16, 37, 64, 200, 1024}) {
        CAPTURE(slots);
        CAPTURE(work);
        CAPTURE(tiles);
        CHECK(filling_splits(work, tiles, slots, Counts::any) ==
              searched(work, tiles, slots, Counts::any));
      }
}

TEST_CASE("counts that leave no split shorter are passed over") {
  int same = 0, all = 0;
  for (int work = 1; work < 216; work += 3)
    for (const int tiles : {4, 16, 37, 64, 200, 1024}) {
      CAPTURE(work);
      CAPTURE(tiles);
      const double splits = filling_splits(work, tiles, 216, Counts::shortening);
      const double search = searched(work, tiles, 216, Counts::shortening);
      CHECK(splits >= 1);
      CHECK(splits <= tiles);
      // Of few tiles the best count may be none that shortens: then both may differ by a wave.
      same += std::ceil(tiles / splits) == std::ceil(tiles / search), ++all;
    }
  CHECK(same >= 0.9 * all);
}

TEST_CASE("a grid that fills the slots is not split") {
  CHECK(filling_splits(173, 1000, 216, Counts::shortening) == 1);
  CHECK(filling_splits(172, 1000, 216, Counts::any) > 1);
}
