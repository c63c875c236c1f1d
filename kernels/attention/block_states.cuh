#pragma once
#include "kernels/attention/merge.h"
#include "kernels/attention/softmax.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

// Softmax states of the parts of a block (warps, or teams of lanes) over the same rows, in shared
// memory: o [part][row][stride], m and l [part][row]. `stride` has 8 floats more than a row, which
// spreads the rows of an mma accumulator over the banks.
struct BlockStates {
  float *o, *m, *l;
  int parts, rows, stride;
};

KVSIM_FN constexpr int block_states_stride(int value_dim) { return value_dim + 8; }
KVSIM_FN constexpr unsigned block_states_bytes(int parts, int rows, int value_dim) {
  return static_cast<unsigned>(parts * rows * (block_states_stride(value_dim) + 2)) * 4U;
}

__device__ __forceinline__ BlockStates block_states_at(unsigned char* shared, int parts, int rows,
                                                       int value_dim) {
  const int stride = block_states_stride(value_dim);
  auto* o = reinterpret_cast<float*>(shared);
  float* m = o + parts * rows * stride;
  return {o, m, m + parts * rows, parts, rows, stride};
}

// Two columns of a row, all parts added up.
struct ColumnPair {
  float m, l, x, y;
};

__device__ __forceinline__ ColumnPair added_up(const BlockStates& states, int row, int column) {
  ColumnPair sum{minus_infinity, 0, 0, 0};
  for (int p = 0; p < states.parts; ++p) sum.m = fmaxf(sum.m, states.m[p * states.rows + row]);
  for (int p = 0; p < states.parts; ++p) {
    const int at = p * states.rows + row;
    const float weight = rescale(states.m[at], sum.m);
    sum.l += weight * states.l[at];
    sum.x += weight * states.o[at * states.stride + column];
    sum.y += weight * states.o[at * states.stride + column + 1];
  }
  return sum;
}

template <int value_dim>
__device__ __forceinline__ void store_output(const MergeArgs& merge, std::int64_t out_row,
                                             int column, const ColumnPair& sum) {
  const float scale = reciprocal_or_zero(sum.l);
  store(as<std::uint32_t>(merge.out + (out_row * value_dim + column)),
        pack_bf16(sum.x * scale, sum.y * scale));
  if (merge.lse && column == 0) store(merge.lse + out_row, natural_lse(sum.m, sum.l));
}

// `at`: the partial's row, see Partials::row.
template <int value_dim>
__device__ __forceinline__ void store_partial(const Partials& partials, std::int64_t at, int column,
                                              const ColumnPair& sum) {
  if (sum.l > 0.0F) {
    const std::uint64_t two = static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(sum.y))
                                  << 32 |
                              std::bit_cast<std::uint32_t>(sum.x);
    store(as<std::uint64_t>(partials.o + (at * value_dim + column)), two);
  }
  if (column == 0) {
    store(partials.m + at, sum.m);
    store(partials.l + at, sum.l);
  }
}

// Where the rows of a block go: a partial of its group, or (partial < 0) the output itself.
struct RowsOut {
  int group, first_row, rows;
  std::int64_t partial;
};

// Adds up the parts and writes `to.rows` rows of value_dim columns, two columns per thread and
// step. The caller has a barrier between writing the states and this.
template <int value_dim>
__device__ __forceinline__ void write_rows(const BlockStates& states, const MergeArgs& merge,
                                           const RowsOut& to) {
  constexpr int pairs = value_dim / 2;
  const int rows_per_group = merge.heads_per_group * merge.tokens;
  for (int i = static_cast<int>(threadIdx.x); i < to.rows * pairs;
       i += static_cast<int>(blockDim.x)) {
    const int row = i / pairs, column = 2 * (i % pairs);
    const ColumnPair sum = added_up(states, row, column);
    if (to.partial < 0)
      store_output<value_dim>(merge, merge.out_row(to.group, to.first_row + row), column, sum);
    else
      store_partial<value_dim>(merge.partials,
                               merge.partials.row(to.partial, rows_per_group, to.first_row + row),
                               column, sum);
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
