#pragma once
#include "kernels/mla/cache.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int mla_simt_warps = 4;

// The 16-byte chunks of a cache row that a lane owns: lane, lane + 32, and the first 8 lanes one of
// the rope part.
struct MlaLaneRow {
  float low[8], high[8], rope[8];
};

__device__ inline MlaLaneRow load_mla_lane_row(Global<const Bf16> row, int lane) {
  MlaLaneRow out;
  mla_unpack8(out.low, load_stream(as<const Words4>(row + 8 * lane)));
  mla_unpack8(out.high, load_stream(as<const Words4>(row + 8 * (lane + 32))));
  if (lane < 8) {
    mla_unpack8(out.rope, load_stream(as<const Words4>(row + 8 * (lane + 64))));
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) out.rope[i] = 0;
  }
  return out;
}

struct MlaSimtShared {
  float m[mla_simt_warps], l[mla_simt_warps];
  float o[mla_simt_warps][mla_latent];
};

// Absorbed, on CUDA cores: a block per row of the output, a warp per token in turn. The cache is
// read once per head, and nothing is split: B * heads blocks.
__global__ void __launch_bounds__(32 * mla_simt_warps) mla_simt(const MlaArgs args) {
  KVSIM_SHARED(shared);
  auto* const merged = reinterpret_cast<MlaSimtShared*>(shared);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int sequence = static_cast<int>(blockIdx.x) / args.rows();
  const int row = static_cast<int>(blockIdx.x) % args.rows();
  const float scale = args.scale * log2_e;
  const int limit = args.limit(load(args.cache.lens + sequence), row);
  const MlaLaneRow q =
      load_mla_lane_row(args.q + static_cast<std::int64_t>(blockIdx.x) * mla_row, lane);

  float m = minus_infinity, l = 0, o[16] = {};
  for (int token = warp; token < limit; token += mla_simt_warps) {
    const MlaLaneRow k = load_mla_lane_row(
        mla_cache_row_address(args.cache, mla_cache_row(args.cache, sequence, token)), lane);
    float score = mla_dot8(q.low, k.low) + mla_dot8(q.high, k.high) + mla_dot8(q.rope, k.rope);
    score = lanes_sum(score) * scale;
    const float larger = mla_max2(m, score);
    const float keep = rescale(m, larger), p = rescale(score, larger);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      o[i] = o[i] * keep + p * k.low[i];
      o[8 + i] = o[8 + i] * keep + p * k.high[i];
    }
    l = l * keep + p;
    m = larger;
  }

  if (lane == 0) {
    merged->m[warp] = m;
    merged->l[warp] = l;
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    merged->o[warp][8 * lane + i] = o[i];
    merged->o[warp][8 * lane + 256 + i] = o[8 + i];
  }
  __syncthreads();
  float top = merged->m[0];
  for (int w = 1; w < mla_simt_warps; ++w) top = mla_max2(top, merged->m[w]);
  top = finite_or_zero(top);
  float sum = 0, values[4] = {};
  for (int w = 0; w < mla_simt_warps; ++w) {
    const float weight = ex2(merged->m[w] - top);
    sum += weight * merged->l[w];
    for (int i = 0; i < 4; ++i) values[i] += weight * merged->o[w][4 * thread + i];
  }
  const float inverse = reciprocal_or_zero(sum);
  for (int i = 0; i < 4; ++i)
    store(args.out + static_cast<std::int64_t>(blockIdx.x) * mla_latent + 4 * thread + i,
          to_bf16(values[i] * inverse));
}

inline void launch_mla_simt(const MlaArgs& args, Stream stream) {
  launch(mla_simt, {static_cast<unsigned>(args.batch * args.rows())}, 32 * mla_simt_warps,
         sizeof(MlaSimtShared), stream, args);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
