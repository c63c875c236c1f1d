#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/distribution.h"
#include "metrics/histogram.h"
#include "units/units.h"

namespace kvsim::metrics {

// Inter-token gaps as (gap, count) pairs: one engine step adds one pair for all requests that also
// decoded in the step before. Statistics are exact over the expanded list; memory is O(distinct
// gaps), because a full buffer is sorted and merged and grows only if that did not halve it.
class GapSamples {
 public:
  GapSamples() { pairs_.reserve(initial_capacity); }

  void add(Duration gap, std::int64_t count) {
    if (count <= 0) return;
    if (!pairs_.empty() && pairs_.back().gap == gap.value()) {
      pairs_.back().count += count;
      return;
    }
    if (pairs_.size() == pairs_.capacity()) make_room();
    pairs_.push_back({gap.value(), count});
  }

  std::int64_t count() const;  // gaps, not pairs
  std::size_t pairs() const { return pairs_.size(); }
  // In milliseconds. Merges the pairs first.
  Distribution describe_ms(std::span<const double> levels);
  // Adds every gap, in seconds, to `histogram`.
  void add_to(Histogram& histogram) const;

 private:
  static constexpr std::size_t initial_capacity = 4096;
  struct Pair {
    std::int64_t gap = 0;  // ns
    std::int64_t count = 0;
  };
  void make_room();
  void merge();

  std::vector<Pair> pairs_;
};

}  // namespace kvsim::metrics
