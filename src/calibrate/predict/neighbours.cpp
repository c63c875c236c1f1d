#include "calibrate/predict/neighbours.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kvsim::calibrate {
namespace {

constexpr std::size_t asked = 8;
constexpr double softening = 1e-4;  // squared octaves: equal points share, none is divided by zero

}  // namespace

Neighbours::Neighbours(std::vector<cost::Features> at, std::vector<double> log_ratio,
                       std::size_t features)
    : at_(std::move(at)), log_ratio_(std::move(log_ratio)), features_(features) {}

std::vector<Neighbours::Near> Neighbours::nearest(const cost::Features& at,
                                                  std::size_t left_out) const {
  std::vector<Near> heap;  // the farthest of the nearest on top
  const auto closer = [](const Near& a, const Near& b) {
    return a.squared != b.squared ? a.squared < b.squared : a.point < b.point;
  };
  for (std::size_t i = 0; i < at_.size(); ++i) {
    if (i == left_out) continue;
    Near n{0, i};
    for (std::size_t f = 0; f < features_; ++f)
      n.squared += (at_[i][f] - at[f]) * (at_[i][f] - at[f]);
    if (heap.size() == asked && !closer(n, heap.front())) continue;
    if (heap.size() == asked) std::ranges::pop_heap(heap, closer), heap.pop_back();
    heap.push_back(n), std::ranges::push_heap(heap, closer);
  }
  std::ranges::sort_heap(heap, closer);
  return heap;
}

double Neighbours::log_ratio(const cost::Features& at, std::size_t left_out) const {
  const std::vector<Near> near = nearest(at, left_out);
  if (near.empty()) return 0;
  double sum = 0, weights = 0;
  for (const Near& n : near) {
    const double w = 1 / (n.squared + softening);
    sum += w * log_ratio_[n.point], weights += w;
  }
  const double fade = std::clamp(2 - std::sqrt(near.front().squared), 0.0, 1.0);
  return fade * sum / weights;
}

Neighbours::Look Neighbours::look(const cost::Features& at, std::size_t left_out) const {
  const std::vector<Near> near = nearest(at, left_out);
  if (near.empty()) return {};
  std::vector<double> values;
  for (const Near& n : near) values.push_back(log_ratio_[n.point]);
  std::ranges::sort(values);
  return {values[values.size() / 2], std::sqrt(near.front().squared), values.size()};
}

}  // namespace kvsim::calibrate
