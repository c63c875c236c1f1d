#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/decode/decode.h"

// Host decisions for decode attention: how many splits, or which block does what.
namespace kvsim::kernels {

// The smallest number of splits at which the last wave of blocks is at least 85 % full, with at
// least 256 tokens per split of the longest sequence, at most 128. `slots`: blocks that run at
// once.
int choose_splits(int groups, int longest, int slots);

// All tiles of all groups, in order, dealt to at most `blocks` runs of equal length (within one
// tile), at least `min_tiles` each; a run may end in the middle of one group and go on in the next.
// A group within one run is written directly, so a run has at most two partials: its first and its
// last segment. A sequence without tokens is a segment without tiles.
struct DecodePlan {
  std::vector<DecodeSegment> segments;
  std::vector<std::int32_t> run_first;      // [runs + 1] into segments
  std::vector<std::int32_t> partial_first;  // [groups + 1]; equal for groups written directly
  int runs() const { return static_cast<int>(run_first.size()) - 1; }
  int partials() const { return partial_first.back(); }
};
DecodePlan plan_decode(std::span<const int> lens, int kv_heads, int window, int blocks,
                       int min_tiles = 4);

}  // namespace kvsim::kernels
