#pragma once

namespace kvsim::cost {

// FlashAttention's choice of splits (num_splits_heuristic): the fewest that fill the last wave of
// CTAs at least 85 % as well as the best count does. `work` CTAs before splitting, `tiles` KV tiles
// of each, `slots` CTAs that run at once. Counts of more than four waves are not looked at, so that
// the cost does not grow with `tiles`.
enum class Counts {
  any,
  shortening,  // only those that leave the longest split shorter (FlashAttention 2)
};
double filling_splits(double work, double tiles, double slots, Counts counts);

}  // namespace kvsim::cost
