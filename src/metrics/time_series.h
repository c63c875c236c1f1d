#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "units/units.h"

namespace kvsim::metrics {

// Time-weighted means of `channels` piecewise constant values in at most `limit` equal buckets from
// time 0. A run that outlasts the buckets doubles their width and merges neighbours, so memory is
// fixed and every span of time keeps its weight. Callers add spans in any order.
template <std::size_t channels>
class TimeSeries {
 public:
  static constexpr std::size_t limit = 512;
  using Values = std::array<double, channels>;

  explicit TimeSeries(Duration first_width = Duration(1'000'000)) : width_(first_width.value()) {
    sums_.reserve(limit);
  }

  // The values held from `from` to `to`.
  void add(Time from, Time to, const Values& values) {
    std::int64_t at = from.nanoseconds();
    const std::int64_t end = to.nanoseconds();
    if (end <= at) return;
    while (static_cast<std::size_t>((end - 1) / width_) >= limit) widen();
    const auto last = static_cast<std::size_t>((end - 1) / width_);
    if (sums_.size() <= last) sums_.resize(last + 1);
    for (auto i = static_cast<std::size_t>(at / width_); i <= last; ++i) {
      const std::int64_t until = std::min(end, (static_cast<std::int64_t>(i) + 1) * width_);
      for (std::size_t c = 0; c < channels; ++c)
        sums_[i][c] += values[c] * static_cast<double>(until - at);
      at = until;
    }
    end_ = std::max(end_, end);
  }

  // Merges neighbours until at most `count` buckets are left.
  void fit(std::size_t count) {
    while (sums_.size() > count) widen();
  }

  Duration width() const { return Duration(width_); }
  std::size_t size() const { return sums_.size(); }
  // The mean over bucket `i`; the last bucket ends with the last span.
  Values mean(std::size_t i) const {
    const std::int64_t begin = static_cast<std::int64_t>(i) * width_;
    const auto span = static_cast<double>(std::min(begin + width_, end_) - begin);
    Values out{};
    for (std::size_t c = 0; c < channels; ++c) out[c] = sums_[i][c] / span;
    return out;
  }

 private:
  void widen() {
    const std::size_t half = (sums_.size() + 1) / 2;
    for (std::size_t i = 0; i < half; ++i) {
      Values merged = sums_[2 * i];
      if (2 * i + 1 < sums_.size()) {
        for (std::size_t c = 0; c < channels; ++c) merged[c] += sums_[2 * i + 1][c];
      }
      sums_[i] = merged;
    }
    sums_.resize(half);
    width_ *= 2;
  }

  std::int64_t width_;  // ns
  std::int64_t end_ = 0;
  std::vector<Values> sums_;  // value times nanoseconds
};

}  // namespace kvsim::metrics
