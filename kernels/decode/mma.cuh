#pragma once
#include "kernels/attention/merge_row.cuh"
#include "kernels/attention/paged_kv.cuh"
#include "kernels/decode/warp_states.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int mma_stages = 3;

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
  int token;  // the first of the next 16
  int page = 0;

  static constexpr bool page_per_tile = log_page == contiguous_kv || (1 << log_page) >= warp_tokens;

  __device__ __forceinline__ bool exists(int t) const { return t >= range.begin && t < range.end; }

  // With small pages lane i holds the page of token i % 16, else every lane the tile's page.
  __device__ __forceinline__ void read_pages() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (page_per_tile) {
      if (token < range.end && token + warp_tokens > range.begin)
        page = page_of_token<log_page>(args.kv, range.sequence, token);
    } else {
      const int mine = token + lane % warp_tokens;
      if (exists(mine)) page = page_of_token<log_page>(args.kv, range.sequence, mine);
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
          const int row_page = __shfl_sync(full_warp, page, row);
          at = args.kv.row(row_page, range.kv_head, slot_of_token<log_page>(token + row)) +
               8 * chunk;
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

// Tensor cores, split-KV. Four warps, each with 16 tokens of every tile of 64 and a private ring of
// three stages, two of them in flight: no block barrier until the warps' states are merged. The
// query heads of a group are rows of the 16-row tile.
template <int dim, int log_page>
__device__ __forceinline__ void attend(const DecodeArgs& args, const SplitRange& range,
                                       unsigned char* shared) {
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
    std::uint32_t p[4];
    softmax_step(s, p, state, o, args.scale * log2_e);
    add_values<dim>(o, p, keys + stage_bytes<dim> / 2);
  }

  cp_wait<0>();
  write_warp_states<dim>(args, range, shared, state, o);
}

// Whether this block wrote the last of its group's partials; then all of them are visible to it.
// The caller has a barrier between writing the partial and this.
__device__ __forceinline__ bool last_of_group(const DecodeArgs& args, int group,
                                              unsigned char* shared) {
  auto* last = reinterpret_cast<std::uint32_t*>(shared);
  if (threadIdx.x == 0) {
    const auto splits = static_cast<std::uint32_t>(args.merge.splits);
    *last = atomic_add(args.counters + group, 1U) == splits - 1U ? 1U : 0U;
    if (*last != 0U) store(args.counters + group, 0U);
  }
  __syncthreads();
  return *last != 0U;
}

// Without a plan a block is one split, and with counters the last block of a group merges it; with
// a plan it takes its segments one after another.
template <int dim, int log_page>
__global__ void __launch_bounds__(mma_warps * 32, mma_blocks_per_sm<dim>)
    decode_mma(const DecodeArgs args) {
  KVSIM_SHARED(shared);
  const bool planned = args.plan.runs > 0;
  int segment = planned ? load(args.plan.first + blockIdx.x) : 0;
  const int end = planned ? load(args.plan.first + (blockIdx.x + 1)) : 1;
  SplitRange range;
  for (; segment < end; ++segment) {
    range =
        planned ? split_of_segment(args, load(args.plan.segments + segment)) : split_of_block(args);
    attend<dim, log_page>(args, range, shared);
    __syncthreads();  // the states in shared memory have been read
  }
  if (planned || !args.counters || range.partial < 0) return;
  if (!last_of_group(args, range.group, shared)) return;
  for (int row = static_cast<int>(threadIdx.x) / 32; row < args.merge.heads_per_group;
       row += mma_warps)
    merge_row<dim>(args.merge, range.group, row);
}

template <int dim, int log_page>
void launch_mma_page(const DecodeArgs& args, Stream stream) {
  const int blocks = args.plan.runs > 0 ? args.plan.runs : args.merge.groups * args.merge.splits;
  launch(decode_mma<dim, log_page>, {static_cast<unsigned>(blocks)}, mma_warps * 32,
         mma_shared_bytes<dim>, stream, args);
}

// The kernel alone, without the merge.
template <int dim>
void launch_decode_mma(const DecodeArgs& args, Stream stream) {
  switch (args.log_page) {
    case contiguous_kv:
      return launch_mma_page<dim, contiguous_kv>(args, stream);
    case 0:
      return launch_mma_page<dim, 0>(args, stream);
    case 4:
      return launch_mma_page<dim, 4>(args, stream);
    case 6:
      return launch_mma_page<dim, 6>(args, stream);
    case 7:
      return launch_mma_page<dim, 7>(args, stream);
    default:
      throw LaunchError("decode: pages have 1, 16, 64 or 128 tokens");
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
