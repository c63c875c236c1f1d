#pragma once
#include "kernels/prefill/flash_tile.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

// -inf for what a query does not see.
template <class Tile>
__device__ __forceinline__ void flash_hide(FlashScores<Tile>& s, const PrefillSpan& span, Mask mask,
                                           int first_query, int first_token) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int t = 0; t < Tile::row_tiles; ++t)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = first_query + 16 * t + 8 * half + lane / 4;
      const int seen = span.visible(query, mask) - first_token - lane % 4 * 2;
#pragma unroll
      for (int n = 0; n < Tile::tokens / 8; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i)
          if (8 * n + i >= seen) s[t][n][2 * half + i] = minus_infinity;
    }
}

template <class Tile>
__device__ __forceinline__ void flash_store(const FlashState<Tile>& state, const PrefillArgs& args,
                                            const PrefillSpan& span, int first_query, int head) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int t = 0; t < Tile::row_tiles; ++t)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float l = quad_sum(state.l[t][half]);
      const int query = first_query + 16 * t + 8 * half + lane / 4;
      if (query >= span.queries) continue;
      const std::int64_t row = prefill_row(args, span.first_query + query, head);
      const float scale = reciprocal_or_zero(l);
      const Global<Bf16> out = args.out + (row * Tile::head_dim + lane % 4 * 2);
#pragma unroll
      for (int d = 0; d < Tile::head_dim / 8; ++d)
        store(as<std::uint32_t>(out + 8 * d),
              pack_bf16(state.o[t][d][2 * half] * scale, state.o[t][d][2 * half + 1] * scale));
      if (lane % 4 == 0 && args.lse) store(args.lse + row, natural_lse(state.m[t][half], l));
    }
}

// Grid: heads, tiles of queries, sequences. Heads of a group run side by side and share K/V in L2;
// the last queries, which see most, go first.
template <class Tile>
__global__ void __launch_bounds__(Tile::threads, 2) flash_prefill(const PrefillArgs args) {
  KVSIM_SHARED(shared);
  const int head = static_cast<int>(blockIdx.x), sequence = static_cast<int>(blockIdx.z);
  const int first_query = static_cast<int>(gridDim.y - 1 - blockIdx.y) * Tile::rows;
  const PrefillSpan span = prefill_span(args, sequence);
  if (first_query >= span.queries) return;
  const int kv_head = head / (args.q_heads / args.kv.kv_heads);
  const int last_query =
      (first_query + Tile::rows < span.queries ? first_query + Tile::rows : span.queries) - 1;
  const int end = span.visible(last_query, args.mask);
  const int tiles = (end + Tile::tokens - 1) / Tile::tokens;
  const int warp_row = static_cast<int>(threadIdx.x / 32) * Tile::rows_per_warp;
  const int warp_query = first_query + warp_row;
  const int warp_end =
      warp_query < span.queries ? span.visible(warp_query + Tile::rows_per_warp - 1, args.mask) : 0;
  const int all_see = span.visible(warp_query, args.mask);  // the warp's first query sees fewest

  unsigned char* const ring = shared + Tile::query_bytes;
  flash_load_queries<Tile>(shared, args, span, first_query, head);
  if (tiles > 0) flash_load_tokens<Tile>(ring, args, sequence, kv_head, 0, end);
  cp_commit();

  FlashState<Tile> state = {};
#pragma unroll
  for (int t = 0; t < Tile::row_tiles; ++t) state.m[t][0] = state.m[t][1] = minus_infinity;
  FlashQueries<Tile> held;
  const float scale_log2 = args.scale * log2_e;

  for (int tile = 0; tile < tiles; ++tile) {
    // The tile has landed for all, and all are done with the one before, which the next overwrites.
    cp_wait<0>();
    __syncthreads();
    const int first = tile * Tile::tokens;
    if (tile + 1 < tiles)
      flash_load_tokens<Tile>(ring + (tile + 1) % 2 * Tile::stage_bytes, args, sequence, kv_head,
                              first + Tile::tokens, end);
    cp_commit();
    if constexpr (Tile::queries_in_registers) {
      if (tile == 0)
#pragma unroll
        for (int step = 0; step < Tile::head_dim / 16; ++step)
          flash_query<Tile>(held[0][step], shared, warp_row, step);
    }
    if (first >= warp_end) continue;  // above the diagonal for all of the warp
    const unsigned char* const keys = ring + tile % 2 * Tile::stage_bytes;
    FlashScores<Tile> s = {};
    flash_scores<Tile>(s, held, shared, warp_row, keys);
    if (first + Tile::tokens > all_see) flash_hide<Tile>(s, span, args.mask, warp_query, first);
    flash_softmax<Tile>(s, state, scale_log2);
    flash_values<Tile>(state, s, keys + Tile::side_bytes);
  }
  cp_wait<0>();
  flash_store<Tile>(state, args, span, warp_query, head);
}

template <class Tile>
void launch_flash_tile(const PrefillArgs& args, Stream stream) {
  const auto tiles = static_cast<unsigned>((args.max_q_len + Tile::rows - 1) / Tile::rows);
  if (tiles == 0) return;
  launch(flash_prefill<Tile>,
         {static_cast<unsigned>(args.q_heads), tiles, static_cast<unsigned>(args.sequences)},
         static_cast<unsigned>(Tile::threads), Tile::shared_bytes, stream, args);
}

template <int RowTiles>
void launch_flash(const PrefillArgs& args, Stream stream) {
  const bool paged = args.log_page != contiguous_kv;
  if (args.kv.head_dim == 64)
    paged ? launch_flash_tile<FlashTile<64, RowTiles, true>>(args, stream)
          : launch_flash_tile<FlashTile<64, RowTiles, false>>(args, stream);
  else
    paged ? launch_flash_tile<FlashTile<128, RowTiles, true>>(args, stream)
          : launch_flash_tile<FlashTile<128, RowTiles, false>>(args, stream);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
