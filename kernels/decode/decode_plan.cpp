#include "kernels/decode/decode_plan.h"

#include <algorithm>

namespace kvsim::kernels {
namespace {

struct Tiles {
  int begin, end;
};

Tiles visible_tiles(int len, int window) {
  return {first_visible(len, window) / decode_tile, (len + decode_tile - 1) / decode_tile};
}

// Run r of `runs` begins at this one of `total` tiles.
std::int64_t run_begin(std::int64_t total, std::int64_t runs, std::int64_t r) {
  return total * r / runs;
}

}  // namespace

int choose_splits(int groups, int longest, int slots) {
  const int most = std::clamp(longest / 256, 1, 128);
  if (groups == 0) return 1;
  for (int splits = 1; splits < most; ++splits) {
    const double blocks = static_cast<double>(groups) * splits;
    const double waves =
        static_cast<double>((groups * static_cast<std::int64_t>(splits) + slots - 1) / slots);
    if (blocks >= 0.85 * waves * slots) return splits;
  }
  return most;
}

DecodePlan plan_decode(std::span<const int> lens, int kv_heads, int window, int blocks,
                       int min_tiles) {
  std::int64_t total = 0;
  for (const int len : lens) {
    const Tiles tiles = visible_tiles(len, window);
    total += static_cast<std::int64_t>(kv_heads) * (tiles.end - tiles.begin);
  }
  const std::int64_t runs = std::clamp<std::int64_t>(total / min_tiles, 1, blocks);
  DecodePlan plan{{}, {0}, {0}};
  std::int64_t done = 0, run = 0;
  int partials = 0;
  const auto end_of_run = [&] { return run_begin(total, runs, run + 1); };
  const auto close_full_runs = [&] {
    for (; run + 1 < runs && done == end_of_run(); ++run)
      plan.run_first.push_back(static_cast<std::int32_t>(plan.segments.size()));
  };
  for (std::size_t b = 0; b < lens.size(); ++b)
    for (int h = 0; h < kv_heads; ++h) {
      const auto group = static_cast<std::int32_t>(b) * kv_heads + h;
      Tiles left = visible_tiles(lens[b], window);
      close_full_runs();
      const bool direct = done + (left.end - left.begin) <= end_of_run();
      do {
        close_full_runs();
        const auto tiles =
            static_cast<int>(std::min<std::int64_t>(left.end - left.begin, end_of_run() - done));
        plan.segments.push_back({group, left.begin, left.begin + tiles, direct ? -1 : partials++});
        left.begin += tiles;
        done += tiles;
      } while (left.begin < left.end);
      plan.partial_first.push_back(partials);
    }
  plan.run_first.push_back(static_cast<std::int32_t>(plan.segments.size()));
  return plan;
}

}  // namespace kvsim::kernels
