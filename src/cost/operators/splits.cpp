#include "cost/operators/splits.h"

#include <algorithm>
#include <cmath>

namespace kvsim::cost {
namespace {

constexpr double most_splits = 128, enough = 0.85, busy = 0.8;
constexpr int waves_tried = 4;

}  // namespace

double filling_splits(double work, double tiles, double slots, Counts counts) {
  if (work >= busy * slots) return 1;
  const double most = std::max(1.0, std::floor(std::min({most_splits, tiles, slots})));
  const auto filled = [&](double splits) {
    const double n = work * splits / slots;
    return n / std::ceil(n);
  };
  double best = 0;
  for (int n = 1; n <= waves_tried; ++n)
    best = std::max(best, filled(std::clamp(std::floor(n * slots / work), 1.0, most)));
  for (int n = 1; n <= waves_tried; ++n) {
    double splits = std::max(1.0, std::ceil(enough * best * n * slots / work));
    if (counts == Counts::shortening) {
      const double longest = std::ceil(tiles / splits);
      if (longest > 1 && std::ceil(tiles / longest) < splits)
        splits = std::ceil(tiles / (longest - 1));
    }
    if (splits <= most && work * splits <= n * slots) return splits;
  }
  return std::clamp(std::floor(slots / work), 1.0, most);
}

}  // namespace kvsim::cost
