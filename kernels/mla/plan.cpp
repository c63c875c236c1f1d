#include "kernels/mla/plan.h"

#include <algorithm>

namespace kvsim::kernels {
namespace {

// An empty sequence costs about a tile: its block still writes rows.
std::int64_t tiles_of(std::int32_t len) {
  return std::max<std::int64_t>(1, (len + mla_tile_tokens - 1) / mla_tile_tokens);
}

}  // namespace

MlaPlan plan_mla(std::span<const std::int32_t> lens, int max_runs, int min_tiles) {
  std::int64_t total = 0;
  for (const std::int32_t len : lens) total += tiles_of(len);
  const std::int64_t runs = std::clamp<std::int64_t>(total / min_tiles, 1, max_runs);

  MlaPlan plan;
  plan.run_first.push_back(0);
  plan.slot_first.push_back(0);
  std::int64_t done = 0;  // tiles
  std::int64_t run = 0, run_end = total / runs;
  for (std::size_t b = 0; b < lens.size(); ++b) {
    const std::size_t first_part = plan.parts.size();
    const std::int64_t tiles = tiles_of(lens[b]);
    for (std::int64_t tile = 0; tile < tiles;) {
      const std::int64_t count = std::min(tiles - tile, run_end - done);
      const auto first = static_cast<std::int32_t>(tile * mla_tile_tokens);
      const auto end = static_cast<std::int32_t>(
          std::min<std::int64_t>(lens[b], (tile + count) * mla_tile_tokens));
      plan.parts.push_back({static_cast<std::int32_t>(b), first, end - first, -1});
      tile += count;
      done += count;
      if (done == run_end) {
        plan.run_first.push_back(static_cast<std::int32_t>(plan.parts.size()));
        ++run;
        run_end = total * (run + 1) / runs;
      }
    }
    std::int32_t slot = plan.slot_first.back();
    if (plan.parts.size() - first_part > 1)
      for (std::size_t p = first_part; p < plan.parts.size(); ++p) plan.parts[p].slot = slot++;
    plan.slot_first.push_back(slot);
  }
  return plan;
}

}  // namespace kvsim::kernels
