#include "planner/feasible.h"

#include <algorithm>

#include "planner/change.h"

namespace kvsim::planner {
namespace {

constexpr std::int64_t samples = 64;

// Where defaults and profile runs change with the length: powers of two are the batch sizes and
// limits that engines compare with (chunked prefill comes on above 32,768).
std::vector<std::int64_t> jumps(const memory::Options& o) {
  std::vector<std::int64_t> places;
  const auto both = [&](std::int64_t n) { places.insert(places.end(), {n, n + 1}); };
  for (std::int64_t n = 2048; n <= 32768; n *= 2) both(n);
  if (o.max_num_batched_tokens > 0) both(o.max_num_batched_tokens);
  if (o.max_model_len > 0) both(o.max_model_len);
  return places;
}

}  // namespace

std::vector<LengthRange> ranges_where(std::int64_t limit, std::int64_t step,
                                      std::vector<std::int64_t> places,
                                      const std::function<bool(std::int64_t)>& starts) {
  if (limit < 1) return {};
  for (std::int64_t n = step; n < limit; n += step) places.push_back(n);
  places.insert(places.end(), {1, limit});
  std::erase_if(places, [&](std::int64_t n) { return n < 1 || n > limit; });
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<LengthRange> list;
  bool before = false;
  std::int64_t last = 0;
  for (const std::int64_t place : places) {
    const bool now = starts(place);
    if (now != before) {
      std::int64_t low = last, high = place;  // they differ
      while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (starts(middle) == before ? low : high) = middle;
      }
      if (now)
        list.push_back({high, high});
      else
        list.back().last = low;
    }
    before = now, last = place;
  }
  if (before) list.back().last = limit;
  return list;
}

Feasible feasible_lengths(const Request& asked) {
  Request r = asked;
  Feasible f;
  f.limit = std::max(r.model.max_position_embeddings, r.options.max_model_len);
  const std::int64_t block = std::max<std::int64_t>(r.options.block_tokens, 16);
  f.resolution = std::max(block, (f.limit / samples + block - 1) / block * block);
  const auto places = jumps(r.options);
  f.ranges = ranges_where(f.limit, f.resolution, places, [&](std::int64_t length) {
    r.options.max_model_len = length;
    const auto pool = try_pool(r);
    return pool && pool->fits;
  });
  if (!f.ranges.empty()) f.largest = f.ranges.back().last;
  return f;
}

std::int64_t largest_up_to(const Feasible& f, std::int64_t most) {
  std::int64_t best = 0;
  for (const LengthRange& range : f.ranges)
    if (range.first <= most) best = std::min(range.last, most);
  return best;
}

}  // namespace kvsim::planner
