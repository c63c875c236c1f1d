#pragma once
#include <cstdint>

#include "kernels/attention/merge.h"
#include "kernels/attention/paged_kv.h"
#include "kernels/host/variants.h"

// Decode attention: one new token per sequence, grouped-query heads, bf16 K/V in pages.
namespace kvsim::kernels {

constexpr int decode_tile = 64;       // tokens that a block of the fast kernel handles at a time
constexpr int decode_max_group = 16;  // query heads per kv head: the rows of one mma tile

// A run of tiles of one (sequence, kv head): group = sequence * kv_heads + kv head. Its result is
// partial number `partial`, or with partial < 0 the output rows themselves.
struct alignas(16) DecodeSegment {
  std::int32_t group, tile_begin, tile_end, partial;
};

// The work of persistent blocks: block r takes segments first[r] ... first[r + 1] - 1. Made by
// decode_plan.h.
struct DecodeRuns {
  Global<const DecodeSegment> segments;
  Global<const std::int32_t> first;
  Global<const std::int32_t> partial_first;  // of each group, for the merge
  int runs = 0, partials = 0;
};

struct DecodeArgs {
  Global<const Bf16> q;  // [sequence][query head][head_dim]
  PagedKv kv;
  int log_page = contiguous_kv;
  float scale = 0;  // > 0: score = scale * (q . k)
  int window = 0;   // 0: all tokens; else the last `window` ones
  // Outputs, partials and the shape: groups = sequences * kv heads, heads_per_group query heads
  // each, tokens = 1, `splits` partials per group.
  MergeArgs merge;
  // One per group, zero before and after every launch; for the merge by the last block.
  Global<std::uint32_t> counters;
  DecodeRuns plan;
};

namespace cpu {
VariantList<DecodeArgs> decode_variants();
}
namespace gpu {
VariantList<DecodeArgs> decode_variants();
}

}  // namespace kvsim::kernels
