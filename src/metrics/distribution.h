#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kvsim::metrics {

// What a report says about a set of samples. All zero for an empty set, as `vllm bench serve`.
struct Distribution {
  double mean = 0;
  double median = 0;
  double std = 0;                   // population standard deviation (numpy.std)
  std::vector<double> percentiles;  // at the levels that were asked for, in that order
};

// "50", "99", "99.9": the level as it appears in a field's name.
std::string percentile_word(double level);

// Linear interpolation between order statistics, as numpy.percentile(method="linear"). The rank
// level/100 * (n-1) falls between two samples; interpolate() combines them.
struct Rank {
  std::int64_t low = 0;
  double fraction = 0;
};
Rank percentile_rank(double level, std::int64_t samples);
double interpolate(double low, double high, double fraction);

// Sorts `samples` in place. Levels lie in [0, 100].
Distribution describe(std::vector<double>& samples, std::span<const double> levels);

}  // namespace kvsim::metrics
