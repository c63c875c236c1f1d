#include "kernels/h2o/select.h"

#include <algorithm>
#include <numeric>

namespace kvsim::kernels {
namespace {

template <class T>
std::vector<std::int32_t> select(std::span<const T> accumulated, HeavyBudget budget) {
  const auto len = static_cast<std::int32_t>(accumulated.size());
  std::vector<std::int32_t> kept(accumulated.size());
  std::iota(kept.begin(), kept.end(), 0);
  if (len <= budget.heavy + budget.recent) return kept;
  const auto old_end = kept.end() - budget.recent, heavy_end = kept.begin() + budget.heavy;
  std::nth_element(kept.begin(), heavy_end, old_end, [&](std::int32_t a, std::int32_t b) {
    const T x = accumulated[static_cast<std::size_t>(a)],
            y = accumulated[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  });
  std::sort(kept.begin(), heavy_end);
  kept.erase(heavy_end, old_end);
  return kept;
}

}  // namespace

std::vector<std::int32_t> select_heavy(std::span<const double> accumulated, HeavyBudget budget) {
  return select(accumulated, budget);
}
std::vector<std::int32_t> select_heavy(std::span<const float> accumulated, HeavyBudget budget) {
  return select(accumulated, budget);
}

}  // namespace kvsim::kernels
