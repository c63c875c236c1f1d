#pragma once
#include "kernels/attention/paged_kv.h"
#include "kernels/decode/decode.h"
#include "kernels/device/kv_device.h"

namespace kvsim::kernels::KVSIM_BACKEND {

KVSIM_FN constexpr int min_of(int a, int b) { return a < b ? a : b; }
KVSIM_FN constexpr int max_of(int a, int b) { return a > b ? a : b; }

// Tokens that one block attends to: whole tiles, cut to what is visible.
struct SplitRange {
  int group, sequence, kv_head;
  int begin, end;        // tokens
  std::int64_t partial;  // -1: one split, the rows go to the output
};

// Block blockIdx.x is split blockIdx.x % splits of group blockIdx.x / splits. The visible tiles of
// the sequence are dealt evenly; a sequence with fewer tiles than splits leaves some empty.
__device__ __forceinline__ SplitRange split_of_block(const DecodeArgs& args) {
  const int splits = args.merge.splits;
  const int group = static_cast<int>(blockIdx.x) / splits;
  const int split = static_cast<int>(blockIdx.x) % splits;
  const int b = group / args.kv.kv_heads;
  const int len = load(args.kv.lens + b), first = first_visible(len, args.window);
  const int tile = first / decode_tile, tiles = (len + decode_tile - 1) / decode_tile - tile;
  const int begin = tile + static_cast<int>(static_cast<std::int64_t>(tiles) * split / splits);
  const int end = tile + static_cast<int>(static_cast<std::int64_t>(tiles) * (split + 1) / splits);
  return {group,
          b,
          group % args.kv.kv_heads,
          max_of(begin * decode_tile, first),
          min_of(end * decode_tile, len),
          splits > 1 ? static_cast<std::int64_t>(blockIdx.x) : -1};
}

// The same for a segment of a plan.
__device__ __forceinline__ SplitRange split_of_segment(const DecodeArgs& args,
                                                       const DecodeSegment& segment) {
  const int b = segment.group / args.kv.kv_heads;
  const int len = load(args.kv.lens + b), first = first_visible(len, args.window);
  return {segment.group,
          b,
          segment.group % args.kv.kv_heads,
          max_of(segment.tile_begin * decode_tile, first),
          min_of(segment.tile_end * decode_tile, len),
          segment.partial};
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
