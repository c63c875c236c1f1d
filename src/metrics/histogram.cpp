#include "metrics/histogram.h"

#include <algorithm>
#include <array>

namespace kvsim::metrics {

Histogram::Histogram(std::string_view name_, std::span<const double> edges_)
    : name(name_), edges(edges_.begin(), edges_.end()), counts(edges_.size(), 0) {}

void Histogram::add(double value, std::int64_t times) {
  const auto at = std::lower_bound(edges.begin(), edges.end(), value) - edges.begin();
  if (static_cast<std::size_t>(at) < counts.size()) counts[static_cast<std::size_t>(at)] += times;
  count += times;
  sum += value * static_cast<double>(times);
}

std::span<const double> ttft_edges() {
  static constexpr std::array edges{.001, .005, .01, .02, .04, .06, .08, .1,  .25,  .5,   .75,
                                    1.,   2.5,  5.,  7.5, 10., 20., 40., 80., 160., 640., 2560.};
  return edges;
}

std::span<const double> token_edges() {
  static constexpr std::array edges{.01, .025, .05, .075, .1,  .15, .2,  .3,  .4, .5,
                                    .75, 1.,   2.5, 5.,   7.5, 10., 20., 40., 80.};
  return edges;
}

std::span<const double> request_edges() {
  static constexpr std::array edges{.3,  .5,  .8,  1.,  1.5,  2.,   2.5,  5.,   10.,   15.,  20.,
                                    30., 40., 50., 60., 120., 240., 480., 960., 1920., 7680.};
  return edges;
}

}  // namespace kvsim::metrics
