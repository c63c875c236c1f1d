#include "metrics/distribution.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kvsim::metrics {

std::string percentile_word(double level) { return fmt::format("{}", level); }

Rank percentile_rank(double level, std::int64_t samples) {
  const double at = level / 100 * static_cast<double>(samples - 1);
  const double low = std::floor(at);
  return {static_cast<std::int64_t>(low), at - low};
}

// Counted from the nearer end, as numpy does, so that fraction 1 gives exactly `high`.
double interpolate(double low, double high, double fraction) {
  const double width = high - low;
  return fraction < 0.5 ? low + width * fraction : high - width * (1 - fraction);
}

Distribution describe(std::vector<double>& samples, std::span<const double> levels) {
  Distribution out;
  out.percentiles.assign(levels.size(), 0.0);
  if (samples.empty()) return out;
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  double sum = 0;
  for (const double x : samples) sum += x;
  out.mean = sum / n;
  double squares = 0;
  for (const double x : samples) squares += (x - out.mean) * (x - out.mean);
  out.std = std::sqrt(squares / n);

  const auto at = [&](double level) {
    const Rank rank = percentile_rank(level, static_cast<std::int64_t>(samples.size()));
    const auto low = static_cast<std::size_t>(rank.low);
    const std::size_t high = std::min(low + 1, samples.size() - 1);
    return interpolate(samples[low], samples[high], rank.fraction);
  };
  out.median = at(50);
  for (std::size_t i = 0; i < levels.size(); ++i) out.percentiles[i] = at(levels[i]);
  return out;
}

}  // namespace kvsim::metrics
