#pragma once
#include "kernels/mla/cache.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

struct MlaNaiveShared {
  float latent[mla_row];
  float sums[4];
};

// Sum over the 128 threads of a block, for all of them.
__device__ inline float mla_sum_of_block(float x, float* sums) {
  x = lanes_sum(x);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
  __syncthreads();
  const float total = sums[0] + sums[1] + sums[2] + sums[3];
  return total;
}

// Row `row` of a head's 128 x 512 matrix times the latent.
__device__ inline float mla_project(Global<const Bf16> row, const float* latent) {
  float sum = 0;
  for (int c = 0; c < mla_latent; c += 8) {
    float w[8];
    mla_unpack8(w, load(as<const Words4>(row + c)));
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += w[i] * latent[c + i];
  }
  return sum;
}

// A block per sequence and head, thread d owns dimension d of the head. 2 * 128 * 512 products per
// token and head, where the absorbed form has 576 + 512.
__global__ void __launch_bounds__(mla_head) mla_naive(const MlaNaiveArgs args) {
  KVSIM_SHARED(shared);
  auto* const s = reinterpret_cast<MlaNaiveShared*>(shared);
  const int d = static_cast<int>(threadIdx.x);
  const int sequence = static_cast<int>(blockIdx.x) / args.heads;
  const int head = static_cast<int>(blockIdx.x) % args.heads;
  const Global<const Bf16> q =
      args.q + static_cast<std::int64_t>(blockIdx.x) * (mla_head + mla_rope);
  const std::int64_t matrix_row = (static_cast<std::int64_t>(head) * mla_head + d) * mla_latent;
  const float q_nope = to_float(load(q + d));
  const float q_rope = d < mla_rope ? to_float(load(q + mla_head + d)) : 0.0F;
  const float scale = args.scale * log2_e;
  const int len = load(args.cache.lens + sequence);

  float m = minus_infinity, l = 0, o = 0;
  for (int token = 0; token < len; ++token) {
    __syncthreads();
    if (d < mla_row / 8) {
      const auto row =
          mla_cache_row_address(args.cache, mla_cache_row(args.cache, sequence, token));
      float values[8];
      mla_unpack8(values, load(as<const Words4>(row + 8 * d)));
      for (int i = 0; i < 8; ++i) s->latent[8 * d + i] = values[i];
    }
    __syncthreads();
    const float k = mla_project(args.w_uk + matrix_row, s->latent);
    const float v = mla_project(args.w_uv + matrix_row, s->latent);
    float product = q_nope * k;
    if (d < mla_rope) product += q_rope * s->latent[mla_latent + d];
    const float score = mla_sum_of_block(product, s->sums) * scale;
    const float larger = mla_max2(m, score);
    const float keep = rescale(m, larger), p = rescale(score, larger);
    o = o * keep + p * v;
    l = l * keep + p;
    m = larger;
  }
  store(args.out + static_cast<std::int64_t>(blockIdx.x) * mla_head + d,
        to_bf16(o * reciprocal_or_zero(l)));
}

VariantList<MlaNaiveArgs> mla_naive_variants() {
  static const Variant<MlaNaiveArgs> list[] = {
      {"reproject", 80, true,
       [](const MlaNaiveArgs& a, Stream s) {
         launch(mla_naive, {static_cast<unsigned>(a.batch * a.heads)}, mla_head,
                sizeof(MlaNaiveShared), s, a);
       }},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
