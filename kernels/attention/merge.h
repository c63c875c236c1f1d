#pragma once
#include <cstdint>

#include "kernels/device/global.h"
#include "kernels/numbers/numbers.h"

// Merges partial results of attention ("split-KV") into outputs.
namespace kvsim::kernels {

// Partial states of softmax.cuh. A group is what shares K/V: one (sequence, kv head); its rows are
// its query rows. Partial p of a group has its rows together:
//   o [partial][row of group][value_dim], m and l [partial][row of group]
// An empty partial has m = -inf and l = 0; its o need not be written.
struct Partials {
  Global<float> o, m, l;

  KVSIM_FN std::int64_t row(std::int64_t partial, int rows_per_group, int row) const {
    return partial * rows_per_group + row;
  }
};

// The partials of group g are g * splits ... (g + 1) * splits - 1, or first[g] ... first[g + 1] - 1
// where `first` is given; a group without partials is left alone (its output exists already).
//
// Row r of group (b, h) is token r / heads_per_group and head r % heads_per_group of the group, so
// its output row is ((b * tokens + token) * kv_heads + h) * heads_per_group + head. Decode has one
// token: rows are heads and output row = group * rows + r.
struct MergeArgs {
  Partials partials;
  Global<const std::int32_t> first;
  int splits = 1;
  int groups = 0, kv_heads = 1, heads_per_group = 1, tokens = 1;
  int value_dim = 128;  // 64 or 128
  Global<Bf16> out;     // [output row][value_dim]; zeros for a row whose partials are all empty
  Global<float> lse;    // [output row], natural; null: not wanted

  KVSIM_FN std::int64_t out_row(int group, int row) const {
    const std::int64_t token =
        static_cast<std::int64_t>(group / kv_heads) * tokens + row / heads_per_group;
    return (token * kv_heads + group % kv_heads) * heads_per_group + row % heads_per_group;
  }
};

namespace cpu {
void launch_merge(const MergeArgs& args, Stream stream);
}
namespace gpu {
void launch_merge(const MergeArgs& args, Stream stream);
}

}  // namespace kvsim::kernels
