#pragma once
#include "kernels/prefill/prefill_common.cuh"

// The pieces of a flash tile: `Tile::rows` queries of one head against `Tile::tokens` tokens, four
// warps with 16 or 32 queries each.
namespace kvsim::kernels::KVSIM_BACKEND {

template <int HeadDim, int RowTiles, bool Paged>
struct FlashTile {
  static constexpr int head_dim = HeadDim, row_tiles = RowTiles;  // row_tiles: of 16 queries
  static constexpr bool paged = Paged;
  static constexpr int warps = 4, threads = 32 * warps;
  static constexpr int rows_per_warp = 16 * RowTiles, rows = rows_per_warp * warps;
  // The scores of 32 x 64 per warp would not fit beside an output of 32 x 128.
  static constexpr int tokens = RowTiles == 2 && HeadDim == 128 ? 32 : 64;
  static constexpr int chunks = HeadDim / 8;  // 16-byte chunks of a row
  static constexpr int row_bytes = 2 * HeadDim;
  static constexpr int query_bytes = rows * row_bytes, side_bytes = tokens * row_bytes;
  static constexpr int stage_bytes = 2 * side_bytes;  // keys, then values
  static constexpr unsigned shared_bytes = query_bytes + 2 * stage_bytes;
  // 16 queries per warp stay in registers; 32 leave no room and are read again for every tile.
  static constexpr bool queries_in_registers = RowTiles == 1;

  __device__ static __forceinline__ int place(int row, int chunk) {
    return row * row_bytes + swizzled(row, chunk) * 16;
  }
};

// What a warp carries from tile to tile. Accumulators hold rows lane / 4 and lane / 4 + 8 of 16,
// and columns 2 (lane % 4) and the next one of 8.
template <class Tile>
struct FlashState {
  float o[Tile::row_tiles][Tile::head_dim / 8][4];
  float m[Tile::row_tiles][2], l[Tile::row_tiles][2];
};

template <class Tile>
using FlashScores = float[Tile::row_tiles][Tile::tokens / 8][4];
template <class Tile>
using FlashQueries = std::uint32_t[Tile::row_tiles][Tile::head_dim / 16][4];

// Rows beyond the last query become zero.
template <class Tile>
__device__ __forceinline__ void flash_load_queries(unsigned char* to, const PrefillArgs& args,
                                                   const PrefillSpan& span, int first, int head) {
  constexpr int rows_at_once = Tile::threads / Tile::chunks;
  const int thread = static_cast<int>(threadIdx.x), chunk = thread % Tile::chunks;
#pragma unroll
  for (int u = 0; u < Tile::rows / rows_at_once; ++u) {
    const int row = thread / Tile::chunks + u * rows_at_once;
    const bool inside = first + row < span.queries;
    const std::int64_t query = inside ? span.first_query + first + row : 0;
    const std::int64_t from = prefill_row(args, query, head) * Tile::head_dim + chunk * 8;
    cp_async16(to + Tile::place(row, chunk), args.q + from, inside);
  }
}

// Elements before the row of a token in either pool. Contiguous rows follow from the head's first;
// the head dimension and, with pages, shifts take the place of runtime factors.
template <class Tile>
__device__ __forceinline__ std::int64_t flash_row(const PrefillArgs& args, int sequence,
                                                  int kv_head, int token) {
  if constexpr (Tile::paged) {
    const int page = load(args.kv.table + args.kv.table_entry(sequence, token >> args.log_page));
    const int slot = token & ((1 << args.log_page) - 1);
    const std::int64_t head_page = static_cast<std::int64_t>(page) * args.kv.kv_heads + kv_head;
    return ((head_page << args.log_page) + slot) * Tile::head_dim;
  } else {
    const std::int64_t head = static_cast<std::int64_t>(sequence) * args.kv.kv_heads + kv_head;
    return (head * args.kv.page_tokens + token) * Tile::head_dim;
  }
}

// Keys and values of a tile; those from `end` > 0 on become zero.
template <class Tile>
__device__ __forceinline__ void flash_load_tokens(unsigned char* to, const PrefillArgs& args,
                                                  int sequence, int kv_head, int first, int end) {
  constexpr int rows_at_once = Tile::threads / Tile::chunks;
  const int thread = static_cast<int>(threadIdx.x), chunk = thread % Tile::chunks;
#pragma unroll
  for (int u = 0; u < Tile::tokens / rows_at_once; ++u) {
    const int row = thread / Tile::chunks + u * rows_at_once;
    const bool inside = first + row < end;
    // The last token's row stands for those beyond it: no branch around the page's look-up.
    const int token = inside ? first + row : end - 1;
    const std::int64_t from = flash_row<Tile>(args, sequence, kv_head, token) + chunk * 8;
    unsigned char* const at = to + Tile::place(row, chunk);
    cp_async16(at, args.kv.keys + from, inside);
    cp_async16(at + Tile::side_bytes, args.kv.values + from, inside);
  }
}

// 16 queries x 16 dimensions of the block's queries in shared memory, as the left factor.
template <class Tile>
__device__ __forceinline__ void flash_query(std::uint32_t (&r)[4], const unsigned char* queries,
                                            int first_row, int step) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  ldsm4(r, queries + Tile::place(first_row + lane % 16, 2 * step + lane / 16));
}

template <class Tile>
__device__ __forceinline__ void flash_scores(FlashScores<Tile>& s, const FlashQueries<Tile>& held,
                                             const unsigned char* queries, int first_row,
                                             const unsigned char* keys) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int step = 0; step < Tile::head_dim / 16; ++step) {
    std::uint32_t q[Tile::row_tiles][4];
#pragma unroll
    for (int t = 0; t < Tile::row_tiles; ++t) {
      if constexpr (Tile::queries_in_registers) {
#pragma unroll
        for (int i = 0; i < 4; ++i) q[t][i] = held[t][step][i];
      } else {
        flash_query<Tile>(q[t], queries, first_row + 16 * t, step);
      }
    }
#pragma unroll
    for (int n = 0; n < Tile::tokens / 16; ++n) {
      std::uint32_t k[4];
      const int row = 16 * n + lane % 8 + lane / 16 * 8;
      ldsm4(k, keys + Tile::place(row, 2 * step + lane / 8 % 2));
#pragma unroll
      for (int t = 0; t < Tile::row_tiles; ++t) {
        mma_bf16_16816(s[t][2 * n], q[t], k[0], k[1]);
        mma_bf16_16816(s[t][2 * n + 1], q[t], k[2], k[3]);
      }
    }
  }
}

// Scores to probabilities in place, 2^(score - m); the state's m, l and o follow.
template <class Tile>
__device__ __forceinline__ void flash_softmax(FlashScores<Tile>& s, FlashState<Tile>& state,
                                              float scale_log2) {
#pragma unroll
  for (int t = 0; t < Tile::row_tiles; ++t) {
    float kept[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest = minus_infinity;
#pragma unroll
      for (int n = 0; n < Tile::tokens / 8; ++n) {
        const float pair = fmaxf(s[t][n][2 * half], s[t][n][2 * half + 1]);
        largest = fmaxf(largest, pair);
      }
      largest = quad_max(largest);
      const float m = fmaxf(state.m[t][half], largest * scale_log2);
      const float subtract = finite_or_zero(m);
      kept[half] = ex2(state.m[t][half] - subtract);
      float sum = 0;
#pragma unroll
      for (int n = 0; n < Tile::tokens / 8; ++n)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          s[t][n][i] = ex2(fmaf(s[t][n][i], scale_log2, -subtract));
          sum += s[t][n][i];
        }
      // Each lane sums its own columns; the quad adds up once, at the end.
      state.l[t][half] = state.l[t][half] * kept[half] + sum;
      state.m[t][half] = m;
    }
    // After the first tiles the maximum rarely moves.
    if (!__any_sync(full_warp, kept[0] != 1.0F || kept[1] != 1.0F)) continue;
#pragma unroll
    for (int d = 0; d < Tile::head_dim / 8; ++d)
#pragma unroll
      for (int i = 0; i < 4; ++i) state.o[t][d][i] *= kept[i / 2];
  }
}

// o += P V: the accumulators of two score columns, packed, are the left factor's registers.
template <class Tile>
__device__ __forceinline__ void flash_values(FlashState<Tile>& state, const FlashScores<Tile>& p,
                                             const unsigned char* values) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int step = 0; step < Tile::tokens / 16; ++step) {
    std::uint32_t left[Tile::row_tiles][4];
#pragma unroll
    for (int t = 0; t < Tile::row_tiles; ++t)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&pair)[4] = p[t][2 * step + i / 2];
        left[t][i] = pack_bf16(pair[2 * (i % 2)], pair[2 * (i % 2) + 1]);
      }
#pragma unroll
    for (int d = 0; d < Tile::head_dim / 16; ++d) {
      std::uint32_t v[4];
      ldsm4_trans(v, values + Tile::place(16 * step + lane % 16, 2 * d + lane / 16));
#pragma unroll
      for (int t = 0; t < Tile::row_tiles; ++t) {
        mma_bf16_16816(state.o[t][2 * d], left[t], v[0], v[1]);
        mma_bf16_16816(state.o[t][2 * d + 1], left[t], v[2], v[3]);
      }
    }
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
