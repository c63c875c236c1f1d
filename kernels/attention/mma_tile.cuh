#pragma once
#include "kernels/attention/paged_kv.h"
#include "kernels/attention/softmax.cuh"

// One warp, 16 query rows, 16 tokens or a multiple: the unit from which the tensor core kernels are
// made. Keys and values of the tokens lie in shared memory as rows of `dim` bf16, chunks swizzled.
// Scores s[n] are those of 8 tokens each, so 2 per 16 tokens, with 4 words of packed probabilities.
//
//            8 tokens   8 tokens        lane = 4 group + quad holds of a 16 x 8 accumulator
//          +----------+----------+        d[0], d[1]: row group,     columns 2 quad, 2 quad + 1
//   rows   | s[0]     | s[1]     |        d[2], d[3]: row group + 8, the same columns
//   0..15  +----------+----------+      so packed scores are the A operand of the product with V.
namespace kvsim::kernels::KVSIM_BACKEND {

// How rows of `dim` bf16 lie in shared memory, both without bank conflicts in ldmatrix: offset() is
// the byte of a chunk of 16 bytes, step(offset(row, c), k) that of chunk 2 k + c of the same row.
// Swizzled rows are a power of two bytes, and the swizzle is an exclusive or.
template <int dim>
struct SwizzledTile {
  static constexpr int row_bytes = dim * 2, bytes = 16 * row_bytes;
  __device__ static __forceinline__ int offset(int row, int chunk) {
    return row * row_bytes + swizzled(row, chunk) * 16;
  }
  __device__ static __forceinline__ int step(int first, int k) { return first ^ (32 * k); }
};

// For copies of whole rows, which cannot swizzle: 16 bytes lie between rows.
template <int dim>
struct PaddedTile {
  static constexpr int row_bytes = dim * 2 + 16, bytes = 16 * row_bytes;
  __device__ static __forceinline__ int offset(int row, int chunk) {
    return row * row_bytes + chunk * 16;
  }
  __device__ static __forceinline__ int step(int first, int k) { return first + 32 * k; }
};

template <int dim>
__device__ __forceinline__ int tile_offset(int row, int chunk) {
  return SwizzledTile<dim>::offset(row, chunk);
}

// A operands of the query rows: rows 0 ... rows - 1 of `query` are real, the others zero.
template <int dim>
__device__ __forceinline__ void load_queries(std::uint32_t (&q)[dim / 16][4],
                                             Global<const Bf16> query, int rows) {
  const int lane = static_cast<int>(threadIdx.x) % 32, group = lane / 4, quad = lane % 4;
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    const int row = group + 8 * (r & 1);
    const Global<const Bf16> from = query + (row * dim + 2 * quad + 8 * (r >> 1));
#pragma unroll
    for (int k = 0; k < dim / 16; ++k)
      q[k][r] = row < rows ? load(as<const std::uint32_t>(from + 16 * k)) : 0U;
  }
}

// s = Q K^T.
template <int dim, class Tile = SwizzledTile<dim>, int eights>
__device__ __forceinline__ void score_tile(float (&s)[eights][4],
                                           const std::uint32_t (&q)[dim / 16][4],
                                           const unsigned char* keys) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int token = lane / 16 * 8 + lane % 8, half = lane / 8 % 2;
  const int first = Tile::offset(token, half);
#pragma unroll
  for (int n = 0; n < eights; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) s[n][i] = 0;
#pragma unroll
  for (int k = 0; k < dim / 16; ++k)
#pragma unroll
    for (int n = 0; n < eights; n += 2) {
      std::uint32_t b[4];
      ldsm4(b, keys + n * (8 * Tile::row_bytes) + Tile::step(first, k));
      mma_bf16_16816(s[n], q[k], b[0], b[1]);
      mma_bf16_16816(s[n + 1], q[k], b[2], b[3]);
    }
}

// o += P V with P as A operand.
template <int dim, class Tile = SwizzledTile<dim>, int words>
__device__ __forceinline__ void add_values(float (&o)[dim / 8][4], const std::uint32_t (&p)[words],
                                           const unsigned char* values) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first = Tile::offset(lane % 16, lane / 16);
#pragma unroll
  for (int t = 0; t < words; t += 4) {
    const std::uint32_t a[4] = {p[t], p[t + 1], p[t + 2], p[t + 3]};
#pragma unroll
    for (int n = 0; n < dim / 16; ++n) {
      std::uint32_t b[4];
      ldsm4_trans(b, values + t * (4 * Tile::row_bytes) + Tile::step(first, n));
      mma_bf16_16816(o[2 * n], a, b[0], b[1]);
      mma_bf16_16816(o[2 * n + 1], a, b[2], b[3]);
    }
  }
}

// Rows `group` and `group + 8` of the lane: m is known to all four lanes of the quad, l is the
// lane's own part of the sum.
struct RowPair {
  float m[2] = {minus_infinity, minus_infinity};
  float l[2] = {0, 0};
};

// One step of online softmax: raw scores (-inf where masked) in, packed probabilities out; o is
// rescaled only when a maximum of the warp's rows moved. score_scale = scale * log2(e) > 0.
template <int eights, int columns>
__device__ __forceinline__ void softmax_step(float (&s)[eights][4], std::uint32_t (&p)[2 * eights],
                                             RowPair& state, float (&o)[columns][4],
                                             float score_scale) {
  float m_new[2];
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float largest = minus_infinity;
#pragma unroll
    for (int n = 0; n < eights; ++n) largest = fmaxf(largest, fmaxf(s[n][2 * r], s[n][2 * r + 1]));
    m_new[r] = fmaxf(quad_max(largest) * score_scale, state.m[r]);
  }
  if (__any_sync(full_warp, m_new[0] > state.m[0] || m_new[1] > state.m[1])) {
    const float down[2] = {rescale(state.m[0], m_new[0]), rescale(state.m[1], m_new[1])};
#pragma unroll
    for (int r = 0; r < 2; ++r) state.m[r] = m_new[r], state.l[r] *= down[r];
#pragma unroll
    for (int n = 0; n < columns; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) o[n][i] *= down[i / 2];
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const float shift = finite_or_zero(state.m[r]);
#pragma unroll
    for (int t = 0; t < eights; ++t) {
      const float x = ex2(fmaf(s[t][2 * r], score_scale, -shift));
      const float y = ex2(fmaf(s[t][2 * r + 1], score_scale, -shift));
      state.l[r] += x + y;
      p[2 * t + r] = pack_bf16(x, y);
    }
  }
}

// -inf for the scores of tokens outside first ... end - 1; `token` is the tile's first.
template <int eights>
__device__ __forceinline__ void mask_outside(float (&s)[eights][4], int token, int first, int end) {
  const int quad = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
  for (int t = 0; t < eights; ++t)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int at = token + 8 * t + 2 * quad + (i & 1);
      if (at < first || at >= end) s[t][i] = minus_infinity;
    }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
