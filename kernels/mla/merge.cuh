#pragma once
#include "kernels/mla/cache.cuh"

// Adds partial results where many meet in few rows: one sequence over all SMs is 132 partials for
// 16 rows, and one warp per row, as attention/merge.cuh has it, would wait for them one by one.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int mla_merge_columns = 128;  // of a block, four per lane
constexpr int mla_merge_warps = 8;      // each takes every eighth partial

struct MlaMergeShared {
  float l[mla_merge_warps];
  float o[mla_merge_warps][mla_merge_columns];
};

// A block per row of the output and 128 columns; sequences that were done whole have no partials.
__global__ void __launch_bounds__(32 * mla_merge_warps) mla_merge(const MlaArgs args) {
  KVSIM_SHARED(shared);
  auto* const merged = reinterpret_cast<MlaMergeShared*>(shared);
  constexpr int blocks_per_row = mla_latent / mla_merge_columns;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int out_row = static_cast<int>(blockIdx.x) / blocks_per_row;
  const int column = static_cast<int>(blockIdx.x) % blocks_per_row * mla_merge_columns;
  const int sequence = out_row / args.rows(), row = out_row % args.rows();
  const int first = load(args.slot_first + sequence), end = load(args.slot_first + sequence + 1);
  if (first == end) return;

  float top = minus_infinity;
  for (int slot = first + lane; slot < end; slot += 32)
    top = mla_max2(top, load(args.partials.m + args.partials.row(slot, args.rows(), row)));
  top = lanes_max(top);

  float l = 0, o[4] = {};
#pragma unroll 4
  for (int slot = first + warp; slot < end; slot += mla_merge_warps) {
    const std::int64_t at = args.partials.row(slot, args.rows(), row);
    const float weight = rescale(load(args.partials.m + at), top);
    const Words4 part =
        load(as<const Words4>(args.partials.o + at * mla_latent + column + 4 * lane));
    l += weight * load(args.partials.l + at);
#pragma unroll
    for (int i = 0; i < 4; ++i) o[i] += weight * std::bit_cast<float>(part.word[i]);
  }
  if (lane == 0) merged->l[warp] = l;
#pragma unroll
  for (int i = 0; i < 4; ++i) merged->o[warp][4 * lane + i] = o[i];
  __syncthreads();

  if (thread >= mla_merge_columns / 2) return;
  float sum = 0, x = 0, y = 0;
#pragma unroll
  for (int w = 0; w < mla_merge_warps; ++w) {
    sum += merged->l[w];
    x += merged->o[w][2 * thread];
    y += merged->o[w][2 * thread + 1];
  }
  const float inverse = reciprocal_or_zero(sum);
  store(as<std::uint32_t>(args.out + static_cast<std::int64_t>(out_row) * mla_latent + column +
                          2 * thread),
        pack_bf16(x * inverse, y * inverse));
}

inline void launch_mla_merge(const MlaArgs& args, Stream stream) {
  const int blocks = args.batch * args.rows() * (mla_latent / mla_merge_columns);
  launch(mla_merge, {static_cast<unsigned>(blocks)}, 32 * mla_merge_warps, sizeof(MlaMergeShared),
         stream, args);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
