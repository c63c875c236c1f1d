#pragma once
#include "kernels/attention/block_states.cuh"
#include "kernels/quantized/decode_steps.cuh"
#include "kernels/quantized/query_f16.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

// A warp's attention with up to 16 query heads as the rows of the products:
//
//   S [16 heads x 8 tokens] += Q K^T,  O [16 heads x 8 channels] += P V
//
// A lane has heads `group` and group + 8; packed scores are the A operand of the second product.
struct WarpRows {
  static constexpr int heads = 16;
  template <int step>
  struct Scores {
    float s[step / 8][4];
  };
  template <int step>
  struct Probabilities {
    std::uint32_t p[step / 16][4];
  };

  std::uint32_t q[8][4];
  float o[16][4] = {};
  float m[2] = {minus_infinity, minus_infinity}, l[2] = {0, 0};
  float factor[2];  // takes a raw score to base 2

  template <class Fragments>
  __device__ __forceinline__ void load_queries(Global<const Bf16> query, int rows,
                                               float score_scale) {
    const LanePlace at = lane_place();
    float largest[2] = {0, 0};
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = at.group + 8 * (r % 2);
#pragma unroll
      for (int k = 0; k < 8; ++k) {
        const int channel = Fragments::channel(at.quad, 2 * k + r / 2);
        const auto from = as<const std::uint32_t>(query + (row * quantised_dim + channel));
        q[k][r] = row < rows ? load(from) : 0U;
        largest[r % 2] = fmaxf(largest[r % 2], largest_of_pair(q[k][r]));
      }
    }
    const float of_row[2] = {quad_max(largest[0]), quad_max(largest[1])};
    const RowPower power[2] = {RowPower(of_row[0]), RowPower(of_row[1])};
#pragma unroll
    for (int i = 0; i < 2; ++i) factor[i] = score_scale * power[i].up;
#pragma unroll
    for (int k = 0; k < 8; ++k)
#pragma unroll
      for (int r = 0; r < 4; ++r) q[k][r] = power[r % 2].f16(q[k][r]);
  }

  template <int step, class Keys>
  __device__ __forceinline__ void score(Scores<step>& out, const Keys& keys) const {
#pragma unroll
    for (int t = 0; t < step / 8; ++t)
#pragma unroll
      for (int i = 0; i < 4; ++i) out.s[t][i] = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k)
#pragma unroll
      for (int t = 0; t < step / 8; ++t)
        mma_f16_16816(out.s[t], q[k], keys.pair(t, 2 * k), keys.pair(t, 2 * k + 1));
  }

  // Tokens from `valid` on count as -inf.
  template <int step>
  __device__ __forceinline__ void softmax(Scores<step>& in, Probabilities<step>& out, int valid) {
    constexpr int tiles = step / 8;
    const int quad = lane_place().quad;
    if (valid < step) {
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (8 * t + 2 * quad + i % 2 >= valid) in.s[t][i] = minus_infinity;
    }
    float m_new[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      float most = minus_infinity;
#pragma unroll
      for (int t = 0; t < tiles; ++t) most = fmaxf(most, fmaxf(in.s[t][2 * r], in.s[t][2 * r + 1]));
      m_new[r] = fmaxf(quad_max(most) * factor[r], m[r]);
    }
    if (__any_sync(full_warp, m_new[0] > m[0] || m_new[1] > m[1])) {
      const float down[2] = {rescale(m[0], m_new[0]), rescale(m[1], m_new[1])};
#pragma unroll
      for (int r = 0; r < 2; ++r) m[r] = m_new[r], l[r] *= down[r];
#pragma unroll
      for (int n = 0; n < 16; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) o[n][i] *= down[i / 2];
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float shift = probability_shift - finite_or_zero(m[r]);
#pragma unroll
      for (int t = 0; t < tiles; ++t) {
        const float x = ex2(fmaf(in.s[t][2 * r], factor[r], shift));
        const float y = ex2(fmaf(in.s[t][2 * r + 1], factor[r], shift));
        l[r] += x + y;
        out.p[t / 2][2 * (t % 2) + r] = pack_f16(x, y);
      }
    }
  }

  template <int step, class Values>
  __device__ __forceinline__ void add(const Probabilities<step>& in, const Values& values) {
#pragma unroll
    for (int c = 0; c < step / 16; ++c)
#pragma unroll
      for (int j = 0; j < 16; ++j)
        mma_f16_16816(o[j], in.p[c], values.pair(c, 0, j), values.pair(c, 1, j));
  }

  // To the warp's part of the block's states; rows beyond the group's are padding.
  __device__ __forceinline__ void put(const BlockStates& states, float value_scale) const {
    const LanePlace at = lane_place();
    const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float sum = quad_sum(l[r]);
      const int row = at.group + 8 * r;
      if (row >= states.rows) continue;
      const int index = warp * states.rows + row;
      float* to = states.o + index * states.stride + 32 * at.quad;
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        to[j] = o[j][2 * r] * value_scale;
        to[16 + j] = o[j][2 * r + 1] * value_scale;
      }
      if (at.quad == 0) states.m[index] = m[r] - probability_shift, states.l[index] = sum;
    }
  }
};

}  // namespace kvsim::kernels::KVSIM_BACKEND
