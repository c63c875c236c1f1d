#pragma once
#include "kernels/attention/block_states.cuh"
#include "kernels/attention/mma_tile.cuh"
#include "kernels/decode/split.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int mma_warps = 4;
constexpr int warp_tokens = decode_tile / mma_warps;  // of every tile

// The end of a tensor core block: the warps' states go through shared memory, in place of the rings
// (no copy into them may be in flight), and are added up to the rows of the range.
template <int dim>
__device__ __forceinline__ void write_warp_states(const DecodeArgs& args, const SplitRange& range,
                                                  unsigned char* shared, const RowPair& state,
                                                  const float (&o)[dim / 8][4]) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int heads = args.merge.heads_per_group;
  const float l[2] = {quad_sum(state.l[0]), quad_sum(state.l[1])};
  const BlockStates states = block_states_at(shared, mma_warps, decode_max_group, dim);
  __syncthreads();  // every warp is done with the rings that the states replace
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = lane / 4 + 8 * r, at = warp * decode_max_group + row;
    if (row >= heads) continue;
#pragma unroll
    for (int n = 0; n < dim / 8; ++n) {
      float* to = states.o + at * states.stride + 8 * n + 2 * (lane % 4);
      to[0] = o[n][2 * r];
      to[1] = o[n][2 * r + 1];
    }
    if (lane % 4 == 0) states.m[at] = state.m[r], states.l[at] = l[r];
  }
  __syncthreads();
  write_rows<dim>(states, args.merge, {range.group, 0, heads, range.partial});
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
