#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/bench/document.h"

// How a case is repeated, and what is said of its samples. Inline, because timing.cu needs them.
namespace kvsim::kernels::bench {

// A graph of `launches` launches, replayed `replays` times; one sample is a replay over `launches`.
struct ReplayPlan {
  int launches = 1;
  bool covers_sets = true;  // false: too slow to go through every set within one replay
};

// A replay takes about 3 ms and goes through every set the same number of times, unless that would
// take longer than 100 ms.
inline ReplayPlan plan_replay(double one_launch_us, int sets) {
  const double us = std::max(one_launch_us, 0.5);
  const int wanted = std::clamp(static_cast<int>(std::lround(3000.0 / us)), 1, 4000);
  const int rounds = (wanted + sets - 1) / sets;
  if (rounds > 1 || sets * us <= 100e3) return {rounds * sets, true};
  return {std::max(1, static_cast<int>(100e3 / us)), false};
}

// Thirty replays, fewer where they would take more than a quarter of a second, three at least; one
// of what takes half a second alone.
inline int plan_samples(double replay_us) {
  if (replay_us > 500e3) return 1;
  return std::clamp(static_cast<int>(250e3 / std::max(replay_us, 1.0)), 3, 30);
}

// Linear between the two nearest of the sorted samples.
inline double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

inline Times times_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return {.median = quantile(samples, 0.5),
          .p10 = quantile(samples, 0.1),
          .p90 = quantile(samples, 0.9),
          .n = static_cast<int>(samples.size())};
}

}  // namespace kvsim::kernels::bench
