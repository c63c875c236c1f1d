#pragma once
#include <cstdint>
#include <limits>

#include "kernels/attention/merge.h"
#include "kernels/attention/paged_kv.h"

// Attention of many query rows of one kv head to the same tokens: several tokens of one sequence
// (verification of drafts) or one token each of many sequences (a shared prefix).
namespace kvsim::kernels {

// Tokens of a step of the kernel. Also the most query rows of a block and the most draft tokens.
constexpr int multi_row_tile = 64;

// Keys and values of tokens that are in no page yet, as the projections leave them, and who sees
// whom. There are as many per sequence as queries.
struct DraftKv {
  Global<const Bf16> keys, values;        // [sequence][token][kv head][head_dim]; null: no drafts
  Global<const std::uint64_t> ancestors;  // [sequence][token], bit j: sees draft token j
};

struct MultiRowArgs {
  // Rows of queries, outputs and partials: [sequence][token][kv head][head of group][head_dim].
  Global<const Bf16> q;
  PagedKv kv;
  int log_page = contiguous_kv;
  float scale = 0;  // > 0: score = scale * (q . k)
  int sequences = 0, tokens = 1, heads_per_group = 1;
  // Every query of sequence b sees tokens first_token ... min(lens[b], end_token) - 1, and of the
  // draft what its bits say; bits from `tokens` on are ignored.
  int first_token = 0, end_token = std::numeric_limits<int>::max();
  DraftKv draft;
  // Blocks that share the tokens of a (sequence, kv head). Split s writes partial first_partial + s
  // of its rows; with first_partial < 0 there is one split, and it writes the outputs.
  int splits = 1, first_partial = 0;
  // Outputs and partials of all rows as one group: partial p of row r is at p * rows() + r.
  MergeArgs merge;

  KVSIM_FN int rows_per_group() const { return tokens * heads_per_group; }
  KVSIM_FN int groups() const { return sequences * kv.kv_heads; }
  KVSIM_FN std::int64_t rows() const {
    return static_cast<std::int64_t>(groups()) * rows_per_group();
  }
};

// The outputs and partials of `rows` rows for MultiRowArgs::merge.
inline MergeArgs merge_of_rows(std::int64_t rows, int partials_per_row, int head_dim) {
  MergeArgs merge;
  merge.splits = partials_per_row;
  merge.groups = 1;
  merge.heads_per_group = static_cast<int>(rows);
  merge.value_dim = head_dim;
  return merge;
}

// Blocks along the rows of a group, each of which reads all of the group's tokens.
KVSIM_FN inline int row_blocks(int rows_per_group) {
  return (rows_per_group + multi_row_tile - 1) / multi_row_tile;
}

// head_dim is 64 or 128, tokens of a draft are 64 at most.
namespace cpu {
void launch_multi_row(const MultiRowArgs& args, Stream stream);        // tensor cores
void launch_multi_row_naive(const MultiRowArgs& args, Stream stream);  // a block per row, no split
}  // namespace cpu
namespace gpu {
void launch_multi_row(const MultiRowArgs& args, Stream stream);
void launch_multi_row_naive(const MultiRowArgs& args, Stream stream);
}  // namespace gpu

}  // namespace kvsim::kernels
