#pragma once
#include "kernels/mla/cache.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int simt_warps = 4;

// The 16-byte chunks of a cache row that a lane owns: lane, lane + 32, and the first 8 lanes one of
// the rope part.
struct LaneRow {
  float low[8], high[8], rope[8];
};

__device__ inline LaneRow load_lane_row(Global<const Bf16> row, int lane) {
  LaneRow out;
  unpack8(out.low, load_stream(as<const Words4>(row + 8 * lane)));
  unpack8(out.high, load_stream(as<const Words4>(row + 8 * (lane + 32))));
  if (lane < 8) {
    unpack8(out.rope, load_stream(as<const Words4>(row + 8 * (lane + 64))));
  } else {
#pragma unroll
    for (int i = 0; i < 8; ++i) out.rope[i] = 0;
  }
  return out;
}

struct SimtShared {
  float m[simt_warps], l[simt_warps];
  float o[simt_warps][mla_latent];
};

// Absorbed, on CUDA cores: a block per row of the output, a warp per token in turn. The cache is
// read once per head, and nothing is split: B * heads blocks.
__global__ void __launch_bounds__(32 * simt_warps) mla_simt(const MlaArgs args) {
  KVSIM_SHARED(shared);
  auto* const merged = reinterpret_cast<SimtShared*>(shared);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int sequence = static_cast<int>(blockIdx.x) / args.rows();
  const int row = static_cast<int>(blockIdx.x) % args.rows();
  const float scale = args.scale * log2_e;
  const int limit = args.limit(load(args.cache.lens + sequence), row);
  const LaneRow q = load_lane_row(args.q + static_cast<std::int64_t>(blockIdx.x) * mla_row, lane);

  float m = minus_infinity, l = 0, o[16] = {};
  for (int token = warp; token < limit; token += simt_warps) {
    const LaneRow k =
        load_lane_row(cache_row_address(args.cache, cache_row(args.cache, sequence, token)), lane);
    float score = dot8(q.low, k.low) + dot8(q.high, k.high) + dot8(q.rope, k.rope);
    score = lanes_sum(score) * scale;
    const float larger = max2(m, score);
    const float keep = ex2(m - larger), p = ex2(score - larger);
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
  for (int w = 1; w < simt_warps; ++w) top = max2(top, merged->m[w]);
  top = finite_or_zero(top);
  float sum = 0, values[4] = {};
  for (int w = 0; w < simt_warps; ++w) {
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
  launch(mla_simt, {static_cast<unsigned>(args.batch * args.rows())}, 32 * simt_warps,
         sizeof(SimtShared), stream, args);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
