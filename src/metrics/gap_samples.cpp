#include "metrics/gap_samples.h"

#include <algorithm>
#include <cmath>

namespace kvsim::metrics {

void GapSamples::merge() {
  std::sort(pairs_.begin(), pairs_.end(),
            [](const Pair& a, const Pair& b) { return a.gap < b.gap; });
  std::size_t kept = 0;
  for (const Pair& pair : pairs_) {
    if (kept > 0 && pairs_[kept - 1].gap == pair.gap) {
      pairs_[kept - 1].count += pair.count;
    } else {
      pairs_[kept++] = pair;
    }
  }
  pairs_.resize(kept);
}

void GapSamples::make_room() {
  merge();
  if (pairs_.size() > pairs_.capacity() / 2) pairs_.reserve(pairs_.capacity() * 2);
}

std::int64_t GapSamples::count() const {
  std::int64_t total = 0;
  for (const Pair& pair : pairs_) total += pair.count;
  return total;
}

void GapSamples::add_to(Histogram& histogram) const {
  for (const Pair& pair : pairs_) histogram.add(to_seconds(Duration(pair.gap)), pair.count);
}

Distribution GapSamples::describe_ms(std::span<const double> levels) {
  merge();
  Distribution out;
  out.percentiles.assign(levels.size(), 0.0);
  const std::int64_t n = count();
  if (n == 0) return out;

  // Exact in integers: 2^63 ns times 2^63 gaps fits.
  __extension__ using Wide = __int128;
  Wide sum = 0;
  for (const Pair& pair : pairs_) sum += static_cast<Wide>(pair.gap) * pair.count;
  const double mean = static_cast<double>(sum) / static_cast<double>(n);
  double squares = 0;
  for (const Pair& pair : pairs_) {
    const double off = static_cast<double>(pair.gap) - mean;
    squares += off * off * static_cast<double>(pair.count);
  }
  out.mean = mean / 1e6;
  out.std = std::sqrt(squares / static_cast<double>(n)) / 1e6;

  std::vector<std::int64_t> ends(pairs_.size());  // samples up to and including each pair
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < pairs_.size(); ++i) ends[i] = seen += pairs_[i].count;
  const auto sample_ms = [&](std::int64_t rank) {
    const auto at = std::upper_bound(ends.begin(), ends.end(), rank) - ends.begin();
    return to_ms(Duration(pairs_[static_cast<std::size_t>(at)].gap));
  };
  const auto percentile = [&](double level) {
    const Rank rank = percentile_rank(level, n);
    return interpolate(sample_ms(rank.low), sample_ms(std::min(rank.low + 1, n - 1)),
                       rank.fraction);
  };
  out.median = percentile(50);
  for (std::size_t i = 0; i < levels.size(); ++i) out.percentiles[i] = percentile(levels[i]);
  return out;
}

}  // namespace kvsim::metrics
