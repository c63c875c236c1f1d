#pragma once
#include "kernels/attention/paged_kv.cuh"
#include "kernels/decode/warp_states.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int mma_stages = 3;
constexpr int any_page = -2;  // log_page of attend() where it is known at run time only

template <int dim>
constexpr int stage_bytes = 2 * warp_tokens* dim * 2;  // keys, then values, of one warp
template <int dim>
constexpr unsigned mma_shared_bytes = mma_warps* mma_stages* stage_bytes<dim>;
// Blocks that fit on an SM with 227 KB of shared memory.
template <int dim>
constexpr int mma_blocks_per_sm = dim == 128 ? 2 : 4;

// Copies of one warp into its own ring: which 16 tokens come next and where their pages are. Page
// numbers are read one tile before the copies that need them.
template <int dim, int log_page>
struct WarpCopies {
  const DecodeArgs& args;
  const SplitRange& range;
  unsigned char* ring;
  int token;     // the first of the next 16
  int page = 0;  // with any_page: row_number()

  static constexpr bool page_per_tile =
      log_page == contiguous_kv || (log_page >= 0 && (1 << log_page) >= warp_tokens);

  __device__ __forceinline__ bool exists(int t) const { return t >= range.begin && t < range.end; }

  // With any_page: the number of the token's row in the pool, computed once by one lane.
  __device__ __forceinline__ int row_number(int t) const {
    const PagedKv& kv = args.kv;
    const bool paged = args.log_page != contiguous_kv;
    const int physical = paged ? load(kv.table + kv.table_entry(range.sequence, t >> args.log_page))
                               : range.sequence;
    const int slot = paged ? t & ((1 << args.log_page) - 1) : t;
    return (physical * kv.kv_heads + range.kv_head) * kv.page_tokens + slot;
  }

  // With small or unknown pages lane i looks up token i % 16, else every lane the tile's page.
  __device__ __forceinline__ void read_pages() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (page_per_tile) {
      if (token < range.end && token + warp_tokens > range.begin)
        page = page_of_token<log_page>(args.kv, range.sequence, token);
    } else {
      const int mine = token + lane % warp_tokens;
      if (!exists(mine)) return;
      if constexpr (log_page == any_page)
        page = row_number(mine);
      else
        page = page_of_token<log_page>(args.kv, range.sequence, mine);
    }
  }

  // Starts the copies of the next tile into `stage` as one group, an empty one at the end.
  __device__ __forceinline__ void issue(int stage) {
    constexpr int chunks = dim / 8, rows_per_step = 32 / chunks;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int chunk = lane % chunks;
    unsigned char* keys = ring + stage * stage_bytes<dim>;
    unsigned char* values = keys + stage_bytes<dim> / 2;
    if (token < range.end) {
      const int first_row = lane / chunks;
      std::int64_t tile = 0;
      if constexpr (page_per_tile)
        tile = args.kv.row(page, range.kv_head, slot_of_token<log_page>(token)) + first_row * dim +
               8 * chunk;
#pragma unroll
      for (int step = 0; step < warp_tokens / rows_per_step; ++step) {
        const int row = step * rows_per_step + first_row;
        std::int64_t at = tile + step * rows_per_step * dim;
        if constexpr (!page_per_tile) {
          const int found = __shfl_sync(full_warp, page, row);
          if constexpr (log_page == any_page)
            at = static_cast<std::int64_t>(found) * dim + 8 * chunk;
          else
            at =
                args.kv.row(found, range.kv_head, slot_of_token<log_page>(token + row)) + 8 * chunk;
        }
        const bool real = exists(token + row);
        cp_async16(keys + tile_offset<dim>(row, chunk), args.kv.keys + at, real);
        cp_async16(values + tile_offset<dim>(row, chunk), args.kv.values + at, real);
      }
      token += decode_tile;
      read_pages();
    }
    cp_commit();
  }
};

// For decode, which needs its scores once.
struct IgnoreScores {
  __device__ __forceinline__ void operator()(int, const float (&)[2][4]) const {}
};

// Tensor cores, split-KV. Four warps, each with 16 tokens of every tile of 64 and a private ring of
// three stages, two of them in flight: no block barrier until the warps' states are merged. The
// query heads of a group are rows of the 16-row tile.
//
// on_scores(token, s) is called with each tile's first token and its raw scores, masked.
template <int dim, int log_page, class OnScores>
__device__ __forceinline__ void attend(const DecodeArgs& args, const SplitRange& range,
                                       unsigned char* shared, const OnScores& on_scores) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int heads = args.merge.heads_per_group;
  unsigned char* ring = shared + warp * mma_stages * stage_bytes<dim>;
  const int start = range.begin / decode_tile * decode_tile + warp * warp_tokens;
  WarpCopies<dim, log_page> copies{args, range, ring, start};
  copies.read_pages();
#pragma unroll
  for (int s = 0; s < mma_stages - 1; ++s) copies.issue(s);

  std::uint32_t q[dim / 16][4];
  load_queries<dim>(q, args.q + static_cast<std::int64_t>(range.group) * heads * dim, heads);
  float o[dim / 8][4] = {};
  RowPair state;
  int stage = 0;
  for (int token = start; token < range.end; token += decode_tile) {
    cp_wait<mma_stages - 2>();
    __syncwarp();
    // The stage read in the previous iteration is free once all lanes are here.
    copies.issue(stage == 0 ? mma_stages - 1 : stage - 1);
    const unsigned char* keys = ring + stage * stage_bytes<dim>;
    if (++stage == mma_stages) stage = 0;
    float s[2][4];
    score_tile<dim>(s, q, keys);
    if (token < range.begin || token + warp_tokens > range.end)
      mask_outside(s, token, range.begin, range.end);
    on_scores(token, s);
    std::uint32_t p[4];
    softmax_step(s, p, state, o, args.scale * log2_e);
    add_values<dim>(o, p, keys + stage_bytes<dim> / 2);
  }

  cp_wait<0>();
  write_warp_states<dim>(args, range, shared, state, o);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
