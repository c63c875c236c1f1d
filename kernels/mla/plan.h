#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/mla/mla.h"

namespace kvsim::kernels {

// Who computes what: the batch's tiles in one line, cut into equal runs, one per block (per row
// block). A run may end one sequence and begin the next, so at most its first and last parts are
// partial results. A sequence without tokens has one empty part, which writes its zeros.
struct MlaPlan {
  std::vector<MlaPart> parts;
  std::vector<std::int32_t> run_first;   // [runs + 1]
  std::vector<std::int32_t> slot_first;  // [batch + 1]
  int runs() const { return static_cast<int>(run_first.size()) - 1; }
  int slots() const { return slot_first.back(); }
};

constexpr int mla_tile_tokens = 32;

// At most `max_runs` runs (at least one) of at least `min_tiles` tiles, if there are as many.
MlaPlan plan_mla(std::span<const std::int32_t> lens, int max_runs, int min_tiles);

}  // namespace kvsim::kernels
