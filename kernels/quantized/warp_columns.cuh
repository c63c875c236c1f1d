#pragma once
#include "kernels/attention/block_states.cuh"
#include "kernels/quantized/decode_steps.cuh"
#include "kernels/quantized/query_f16.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

// Over the eight lanes of one quad position: everything of a column of an accumulator.
__device__ __forceinline__ float column_max(float x) {
#pragma unroll
  for (int step = 4; step < 32; step *= 2) x = fmaxf(x, __shfl_xor_sync(full_warp, x, step));
  return x;
}
__device__ __forceinline__ float column_sum(float x) {
#pragma unroll
  for (int step = 4; step < 32; step *= 2) x += __shfl_xor_sync(full_warp, x, step);
  return x;
}

// A warp's attention with up to 8 query heads as the columns of the products:
//
//   S^T [16 tokens x 8 heads] += K Q^T,  O^T [16 channels x 8 heads] += V^T P^T
//
// Half the products and half the registers of WarpRows, which pads 8 heads to 16. The lanes' keys
// and values are the same, only that pairs of two tiles (of two channels) now make an A operand. A
// lane has heads 2 quad and 2 quad + 1; movmatrix turns packed scores, a row per token, into the
// operand with a column per head.
struct WarpColumns {
  static constexpr int heads = 8;
  template <int step>
  struct Scores {
    float s[step / 16][4];
  };
  template <int step>
  struct Probabilities {
    std::uint32_t p[step / 16][2];
  };

  std::uint32_t q[8][2];
  float o[8][4] = {};
  float m[2] = {minus_infinity, minus_infinity}, l[2] = {0, 0};
  float factor[2];

  template <class Fragments>
  __device__ __forceinline__ void load_queries(Global<const Bf16> query, int rows,
                                               float score_scale) {
    const LanePlace at = lane_place();
    float largest = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int channel = Fragments::channel(at.quad, 2 * k + i);
        const auto from = as<const std::uint32_t>(query + (at.group * quantised_dim + channel));
        q[k][i] = at.group < rows ? load(from) : 0U;
        largest = fmaxf(largest, largest_of_pair(q[k][i]));
      }
    const float of_row = quad_max(largest);
    const RowPower power(of_row);
    // The heads of a lane's scores are not the head of its queries.
    factor[0] = score_scale * __shfl_sync(full_warp, power.up, 8 * at.quad);
    factor[1] = score_scale * __shfl_sync(full_warp, power.up, 8 * at.quad + 4);
#pragma unroll
    for (int k = 0; k < 8; ++k)
#pragma unroll
      for (int i = 0; i < 2; ++i) q[k][i] = power.f16(q[k][i]);
  }

  template <int step, class Keys>
  __device__ __forceinline__ void score(Scores<step>& out, const Keys& keys) const {
#pragma unroll
    for (int c = 0; c < step / 16; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) out.s[c][i] = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k)
#pragma unroll
      for (int c = 0; c < step / 16; ++c) {
        const std::uint32_t a[4] = {keys.pair(2 * c, 2 * k), keys.pair(2 * c + 1, 2 * k),
                                    keys.pair(2 * c, 2 * k + 1), keys.pair(2 * c + 1, 2 * k + 1)};
        mma_f16_16816(out.s[c], a, q[k][0], q[k][1]);
      }
  }

  template <int step>
  __device__ __forceinline__ void softmax(Scores<step>& in, Probabilities<step>& out, int valid) {
    constexpr int chunks = step / 16;
    const int group = lane_place().group;
    if (valid < step) {
#pragma unroll
      for (int c = 0; c < chunks; ++c)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (16 * c + 8 * (i / 2) + group >= valid) in.s[c][i] = minus_infinity;
    }
    float m_new[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float most = minus_infinity;
#pragma unroll
      for (int c = 0; c < chunks; ++c) most = fmaxf(most, fmaxf(in.s[c][h], in.s[c][2 + h]));
      m_new[h] = fmaxf(column_max(most) * factor[h], m[h]);
    }
    if (__any_sync(full_warp, m_new[0] > m[0] || m_new[1] > m[1])) {
      const float down[2] = {rescale(m[0], m_new[0]), rescale(m[1], m_new[1])};
#pragma unroll
      for (int h = 0; h < 2; ++h) m[h] = m_new[h], l[h] *= down[h];
#pragma unroll
      for (int n = 0; n < 8; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) o[n][i] *= down[i % 2];
    }
    const float shift[2] = {probability_shift - finite_or_zero(m[0]),
                            probability_shift - finite_or_zero(m[1])};
#pragma unroll
    for (int c = 0; c < chunks; ++c)
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        const float x = ex2(fmaf(in.s[c][2 * t], factor[0], shift[0]));
        const float y = ex2(fmaf(in.s[c][2 * t + 1], factor[1], shift[1]));
        l[0] += x, l[1] += y;
        out.p[c][t] = movmatrix_trans(pack_f16(x, y));
      }
  }

  template <int step, class Values>
  __device__ __forceinline__ void add(const Probabilities<step>& in, const Values& values) {
#pragma unroll
    for (int c = 0; c < step / 16; ++c)
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        const std::uint32_t a[4] = {values.pair(c, 0, 2 * n), values.pair(c, 0, 2 * n + 1),
                                    values.pair(c, 1, 2 * n), values.pair(c, 1, 2 * n + 1)};
        mma_f16_16816(o[n], a, in.p[c][0], in.p[c][1]);
      }
  }

  // To the warp's part of the block's states. A lane has channels 16 group ... + 15 of its heads.
  __device__ __forceinline__ void put(const BlockStates& states, float value_scale) const {
    const LanePlace at = lane_place();
    const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float sum = column_sum(l[h]);
      const int head = 2 * at.quad + h;
      if (head >= states.rows) continue;
      const int index = warp * states.rows + head;
      float* to = states.o + index * states.stride + 16 * at.group;
#pragma unroll
      for (int n = 0; n < 8; ++n) {
        to[2 * n] = o[n][h] * value_scale;
        to[2 * n + 1] = o[n][2 + h] * value_scale;
      }
      if (at.group == 0) states.m[index] = m[h] - probability_shift, states.l[index] = sum;
    }
  }
};

}  // namespace kvsim::kernels::KVSIM_BACKEND
