#include "kernels/host/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/numbers/noise.h"

namespace kvsim::kernels {

void Comparison::add(double got, double want) {
  if (!std::isfinite(got)) {
    check_.finite = false;
    return;
  }
  error2_ += (got - want) * (got - want);
  want2_ += want * want;
  check_.max_abs = std::max(check_.max_abs, std::abs(got - want));
}

Check Comparison::result() const {
  Check out = check_;
  // A reference of zeros must be met exactly.
  out.rel_l2 = want2_ > 0 ? std::sqrt(error2_ / want2_) : (error2_ > 0 ? 1.0 : 0.0);
  return out;
}

std::vector<std::int64_t> sample_rows(std::int64_t total, int count, std::uint64_t seed) {
  std::set<std::int64_t> rows;
  if (total <= count) {
    for (std::int64_t i = 0; i < total; ++i) rows.insert(i);
  } else {
    rows = {0, total - 1};
    for (std::uint64_t i = 0; static_cast<int>(rows.size()) < count; ++i)
      rows.insert(
          static_cast<std::int64_t>(noise_bits(seed, i) % static_cast<std::uint64_t>(total)));
  }
  return {rows.begin(), rows.end()};
}

}  // namespace kvsim::kernels
