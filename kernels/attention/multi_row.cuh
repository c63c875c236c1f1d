#pragma once
#include "kernels/attention/block_states.cuh"
#include "kernels/attention/mma_tile.cuh"
#include "kernels/attention/multi_row.h"
#include "kernels/attention/paged_kv.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

// A block holds row_tiles x 16 query rows and steps through 64 tokens at a time, which all of its
// warps share. Warp w has row tile w % row_tiles and part w / row_tiles of each step's tokens: up
// to 16 rows split the tokens four ways, 64 rows give each warp rows of its own.
template <int Dim, int RowTiles>
struct MultiRowTile {
  static constexpr int dim = Dim, row_tiles = RowTiles;
  static constexpr int warps = 4, threads = 32 * warps, stages = 3;
  static constexpr int rows = 16 * row_tiles, parts = warps / row_tiles;
  static constexpr int warp_tokens = multi_row_tile / parts;
  static constexpr int side_bytes = multi_row_tile * dim * 2;
  static constexpr int stage_bytes = 2 * side_bytes;  // keys, then values
  static constexpr unsigned shared_bytes = stages * stage_bytes;
  static constexpr int blocks_per_sm = dim == 128 ? 2 : 3;
  static_assert(block_states_bytes(parts, rows, dim) <= shared_bytes);
};

// What a block does: rows first_row ... of a group, against the steps tile_begin ... tile_end - 1.
// Step i < context_tiles is of 64 tokens of the cache, step context_tiles is the draft.
struct RowsSpan {
  int sequence, kv_head, first_row, rows, split;
  int context_end, context_tiles, tile_begin, tile_end;
};

// Blocks of the same tokens run side by side and share them in L2.
__device__ __forceinline__ RowsSpan rows_span(const MultiRowArgs& args, int block_rows) {
  const int all_rows = args.rows_per_group();
  const int blocks = (all_rows + block_rows - 1) / block_rows;
  const int index = static_cast<int>(blockIdx.x) / blocks;
  RowsSpan span;
  span.first_row = static_cast<int>(blockIdx.x) % blocks * block_rows;
  span.rows = all_rows - span.first_row < block_rows ? all_rows - span.first_row : block_rows;
  span.split = index % args.splits;
  const int group = index / args.splits;
  span.sequence = group / args.kv.kv_heads;
  span.kv_head = group % args.kv.kv_heads;
  const int len = load(args.kv.lens + span.sequence);
  const int end = len < args.end_token ? len : args.end_token;
  span.context_end = end > args.first_token ? end : args.first_token;
  span.context_tiles = (span.context_end - args.first_token + multi_row_tile - 1) / multi_row_tile;
  const std::int64_t tiles = span.context_tiles + (args.draft.keys ? 1 : 0);
  span.tile_begin = static_cast<int>(tiles * span.split / args.splits);
  span.tile_end = static_cast<int>(tiles * (span.split + 1) / args.splits);
  return span;
}

// Of row `row` of the block.
__device__ __forceinline__ int query_of_row(const MultiRowArgs& args, const RowsSpan& span,
                                            int row) {
  return (span.first_row + row) / args.heads_per_group;
}
__device__ __forceinline__ std::int64_t output_row(const MultiRowArgs& args, const RowsSpan& span,
                                                   int row) {
  const int query = query_of_row(args, span, row);
  const int head = span.first_row + row - query * args.heads_per_group;
  const std::int64_t token = static_cast<std::int64_t>(span.sequence) * args.tokens + query;
  return (token * args.kv.kv_heads + span.kv_head) * args.heads_per_group + head;
}

// Copies of one warp, which brings 16 tokens of every step. The page of a step's token is read one
// step before the copies that need it, by lane token % 16.
template <class Tile>
struct StepCopies {
  const MultiRowArgs& args;
  const RowsSpan& span;
  unsigned char* ring;
  int tile;  // the next one
  int page = 0;

  static __device__ __forceinline__ int warp_token() {
    return static_cast<int>(threadIdx.x) / 32 * 16;
  }
  __device__ __forceinline__ int first_of_tile() const {
    return args.first_token + tile * multi_row_tile + warp_token();
  }

  __device__ __forceinline__ void read_pages() {
    const int token = first_of_tile() + static_cast<int>(threadIdx.x) % 16;
    if (tile >= span.tile_end || token >= span.context_end) return;
    page = span.sequence;
    if (args.log_page != contiguous_kv)
      page = load(args.kv.table + args.kv.table_entry(span.sequence, token >> args.log_page));
  }

  // The next step into `stage` as one group, an empty one at the end.
  __device__ __forceinline__ void issue(int stage) {
    constexpr int chunks = Tile::dim / 8, rows_per_copy = 32 / chunks;
    const int lane = static_cast<int>(threadIdx.x) % 32, chunk = lane % chunks;
    if (tile < span.tile_end) {
      const bool draft = tile == span.context_tiles;
      const Global<const Bf16> keys = draft ? args.draft.keys : args.kv.keys;
      const Global<const Bf16> values = draft ? args.draft.values : args.kv.values;
      PagedKv kv = args.kv;
      kv.head_dim = Tile::dim;  // known when compiled
      const int slot_mask = args.log_page == contiguous_kv ? -1 : (1 << args.log_page) - 1;
      const int first = first_of_tile();
      unsigned char* to = ring + stage * Tile::stage_bytes;
// Not more: the addresses of all steps at once would take 30 registers.
#pragma unroll 2
      for (int step = 0; step < 16 / rows_per_copy; ++step) {
        const int row = step * rows_per_copy + lane / chunks;
        const int row_page = __shfl_sync(full_warp, page, row);
        const int query = warp_token() + row;
        const std::int64_t draft_row =
            (static_cast<std::int64_t>(span.sequence) * args.tokens + query) * args.kv.kv_heads +
            span.kv_head;
        const std::int64_t from = draft ? draft_row * Tile::dim
                                        : kv.row(row_page, span.kv_head, (first + row) & slot_mask);
        const bool real = draft ? query < args.tokens : first + row < span.context_end;
        unsigned char* at = to + tile_offset<Tile::dim>(query, chunk);
        cp_async16(at, keys + (from + 8 * chunk), real);
        cp_async16(at + Tile::side_bytes, values + (from + 8 * chunk), real);
      }
      ++tile;
      read_pages();
    }
    cp_commit();
  }
};

// A operands of the warp's 16 rows; rows that do not exist are zero.
template <class Tile>
__device__ __forceinline__ void load_row_queries(std::uint32_t (&q)[Tile::dim / 16][4],
                                                 const MultiRowArgs& args, const RowsSpan& span,
                                                 int warp_row) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = warp_row + lane / 4 + 8 * half;
    const bool real = row < span.rows;
    const std::int64_t at = real ? output_row(args, span, row) * Tile::dim + 2 * (lane % 4) : 0;
#pragma unroll
    for (int k = 0; k < Tile::dim / 16; ++k)
#pragma unroll
      for (int right = 0; right < 2; ++right)
        q[k][half + 2 * right] =
            real ? load(as<const std::uint32_t>(args.q + (at + 16 * k + 8 * right))) : 0U;
  }
}

// -inf for the draft tokens that a row does not see; `first` is the first one of s.
template <int eights>
__device__ __forceinline__ void mask_draft(float (&s)[eights][4], const MultiRowArgs& args,
                                           const RowsSpan& span, int warp_row, int first) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = warp_row + lane / 4 + 8 * half;
    std::uint64_t seen = 0;
    if (row < span.rows) {
      const std::int64_t token =
          static_cast<std::int64_t>(span.sequence) * args.tokens + query_of_row(args, span, row);
      seen = load(args.draft.ancestors + token);
      seen &= ~std::uint64_t{0} >> (64 - args.tokens);
    }
    const std::uint64_t mine = seen >> (first + 2 * (lane % 4));
#pragma unroll
    for (int n = 0; n < eights; ++n)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        if ((mine >> (8 * n + i) & 1U) == 0U) s[n][2 * half + i] = minus_infinity;
  }
}

// The warp's state to shared memory, then all rows of the block to where they belong.
template <class Tile>
__device__ __forceinline__ void write_block_rows(unsigned char* shared, const MultiRowArgs& args,
                                                 const RowsSpan& span, const RowPair& state,
                                                 const float (&o)[Tile::dim / 8][4]) {
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const float l[2] = {quad_sum(state.l[0]), quad_sum(state.l[1])};
  const BlockStates states = block_states_at(shared, Tile::parts, Tile::rows, Tile::dim);
  __syncthreads();  // every warp is done with the ring that the states replace
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = warp % Tile::row_tiles * 16 + lane / 4 + 8 * half;
    const int at = warp / Tile::row_tiles * Tile::rows + row;
#pragma unroll
    for (int n = 0; n < Tile::dim / 8; ++n) {
      float* to = states.o + at * states.stride + 8 * n + 2 * (lane % 4);
      to[0] = o[n][2 * half];
      to[1] = o[n][2 * half + 1];
    }
    if (lane % 4 == 0) states.m[at] = state.m[half], states.l[at] = l[half];
  }
  __syncthreads();
  constexpr int pairs = Tile::dim / 2;
  for (int i = static_cast<int>(threadIdx.x); i < span.rows * pairs; i += Tile::threads) {
    const int row = i / pairs, column = 2 * (i % pairs);
    const ColumnPair sum = added_up(states, row, column);
    const std::int64_t to = output_row(args, span, row);
    if (args.first_partial < 0)
      store_output<Tile::dim>(args.merge, to, column, sum);
    else
      store_partial<Tile::dim>(args.merge.partials,
                               (args.first_partial + span.split) * args.rows() + to, column, sum);
  }
}

// Tensor cores, split-KV, a ring of three steps with two in flight and one barrier per step.
template <class Tile>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    multi_row(const MultiRowArgs args) {
  KVSIM_SHARED(shared);
  const RowsSpan span = rows_span(args, Tile::rows);
  StepCopies<Tile> copies{args, span, shared, span.tile_begin};
  copies.read_pages();
#pragma unroll
  for (int s = 0; s < Tile::stages - 1; ++s) copies.issue(s);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp % Tile::row_tiles * 16;
  const int warp_token = warp / Tile::row_tiles * Tile::warp_tokens;
  std::uint32_t q[Tile::dim / 16][4];
  load_row_queries<Tile>(q, args, span, warp_row);
  float o[Tile::dim / 8][4] = {};
  RowPair state;
  int stage = 0;
  for (int tile = span.tile_begin; tile < span.tile_end; ++tile) {
    cp_wait<Tile::stages - 2>();
    // The step has landed for all, and all are done with the one before, which the next overwrites.
    __syncthreads();
    copies.issue(stage == 0 ? Tile::stages - 1 : stage - 1);
    const unsigned char* keys = shared + stage * Tile::stage_bytes + warp_token * Tile::dim * 2;
    if (++stage == Tile::stages) stage = 0;
    const bool draft = tile == span.context_tiles;
    const int tokens =
        draft ? args.tokens : span.context_end - args.first_token - tile * multi_row_tile;
    if (warp_row >= span.rows || warp_token >= tokens) continue;
    float s[Tile::warp_tokens / 8][4];
    score_tile<Tile::dim>(s, q, keys);
    if (draft)
      mask_draft(s, args, span, warp_row, warp_token);
    else if (warp_token + Tile::warp_tokens > tokens)
      mask_outside(s, warp_token, 0, tokens);
    std::uint32_t p[Tile::warp_tokens / 4];
    softmax_step(s, p, state, o, args.scale * log2_e);
    add_values<Tile::dim>(o, p, keys + Tile::side_bytes);
  }
  cp_wait<0>();
  write_block_rows<Tile>(shared, args, span, state, o);
}

template <class Tile>
void launch_multi_row_tile(const MultiRowArgs& args, Stream stream) {
  const int blocks = (args.rows_per_group() + Tile::rows - 1) / Tile::rows;
  launch(multi_row<Tile>, {static_cast<unsigned>(blocks * args.groups() * args.splits)},
         Tile::threads, Tile::shared_bytes, stream, args);
}

template <int dim>
void launch_multi_row_dim(const MultiRowArgs& args, Stream stream) {
  const int rows = args.rows_per_group();
  if (rows <= 16) return launch_multi_row_tile<MultiRowTile<dim, 1>>(args, stream);
  if (rows <= 32) return launch_multi_row_tile<MultiRowTile<dim, 2>>(args, stream);
  launch_multi_row_tile<MultiRowTile<dim, 4>>(args, stream);
}

void launch_multi_row(const MultiRowArgs& args, Stream stream) {
  if (args.rows() == 0) return;
  args.kv.head_dim == 64 ? launch_multi_row_dim<64>(args, stream)
                         : launch_multi_row_dim<128>(args, stream);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
