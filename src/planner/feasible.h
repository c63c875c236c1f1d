#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "planner/request.h"

// Which max_model_len start. Not an interval: a profile run that depends on the length can refuse
// 29,000 tokens where 20,000 and 35,000 start (chunked prefill comes on above 32,768 before V1).
namespace kvsim::planner {

struct LengthRange {
  std::int64_t first = 0, last = 0;  // both start
  friend bool operator==(const LengthRange&, const LengthRange&) = default;
};

struct Feasible {
  std::vector<LengthRange> ranges;  // ascending, apart
  std::int64_t largest = 0;         // the largest that starts; 0 = none
  // Lengths from 1 to this one were looked at: the model's positions, or what was asked beyond.
  std::int64_t limit = 0;
  // Boundaries are exact; a range or a gap shorter than this between two places where no rule
  // changes may be missed.
  std::int64_t resolution = 0;
};

// Sizes the deployment about 80 times and a dozen times more for each boundary.
Feasible feasible_lengths(const Request& request);

// The ranges of [1, limit] where `starts` holds: asked at every `step`, at the `places` where it
// is known to jump, and by bisection between two that differ.
std::vector<LengthRange> ranges_where(std::int64_t limit, std::int64_t step,
                                      std::vector<std::int64_t> places,
                                      const std::function<bool(std::int64_t)>& starts);

// The largest feasible length up to `most`; 0 = none.
std::int64_t largest_up_to(const Feasible& feasible, std::int64_t most);

}  // namespace kvsim::planner
