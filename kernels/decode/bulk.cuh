#pragma once
#include "kernels/attention/paged_kv.cuh"
#include "kernels/decode/warp_states.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int bulk_stages = 3;

template <int dim>
struct BulkLayout {
  using Tile = PaddedTile<dim>;
  static constexpr int stage_bytes = 2 * Tile::bytes;  // keys, then values, of one warp
  static constexpr int ring_bytes = mma_warps * bulk_stages * stage_bytes;
  static constexpr unsigned shared_bytes = ring_bytes + mma_warps * bulk_stages * 8;
};

// One warp's ring, filled by bulk copies of one row each: lanes 0 ... 15 copy the keys of the 16
// tokens, lanes 16 ... 31 their values, one instruction per lane and tile. Rows outside the range
// are copies of its nearest row (their scores are masked), so the ring never holds anything else.
template <int dim>
struct BulkCopies {
  using Layout = BulkLayout<dim>;
  const DecodeArgs& args;
  const SplitRange& range;
  unsigned char* ring;
  std::uint64_t* full;  // mbarrier of each stage
  int token;            // the first of the next 16
  std::int64_t row = 0;

  // Reads the page table for this lane's row of the next tile, one tile before its copy.
  __device__ __forceinline__ void find_row() {
    if (token >= range.end) return;
    const int mine = token + static_cast<int>(threadIdx.x) % warp_tokens;
    row = row_of_token(args.kv, args.log_page, range.sequence, range.kv_head,
                       min_of(max_of(mine, range.begin), range.end - 1));
  }

  __device__ __forceinline__ void issue(int stage) {
    if (token >= range.end) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    unsigned char* to = ring + stage * Layout::stage_bytes + lane / 16 * Layout::Tile::bytes;
    if (lane == 0) mbar_expect_tx(&full[stage], 2 * warp_tokens * dim * 2);
    __syncwarp();
    const Global<const Bf16> pool = lane < 16 ? args.kv.keys : args.kv.values;
    bulk_g2s(to + Layout::Tile::offset(lane % 16, 0), pool + row, dim * 2, &full[stage]);
    token += decode_tile;
    find_row();
  }
};

// decode_mma with rings filled by the copy engine: fewer instructions per tile than 16-byte copies,
// which each lane issues 16 of. The page size is a runtime argument, a lane has one address per
// tile.
template <int dim>
__global__ void __launch_bounds__(mma_warps * 32, dim == 128 ? 2 : 4)
    decode_bulk(const DecodeArgs args) {
  using Layout = BulkLayout<dim>;
  KVSIM_SHARED(shared);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int heads = args.merge.heads_per_group;
  const SplitRange range = split_of_block(args);
  auto* full = reinterpret_cast<std::uint64_t*>(shared + Layout::ring_bytes) + warp * bulk_stages;
  if (lane < bulk_stages) mbar_init(&full[lane], 1);
  __syncwarp();
  unsigned char* ring = shared + warp * bulk_stages * Layout::stage_bytes;
  const int start = range.begin / decode_tile * decode_tile + warp * warp_tokens;
  BulkCopies<dim> copies{args, range, ring, full, start};
  copies.find_row();
#pragma unroll
  for (int s = 0; s < bulk_stages - 1; ++s) copies.issue(s);

  std::uint32_t q[dim / 16][4];
  load_queries<dim>(q, args.q + static_cast<std::int64_t>(range.group) * heads * dim, heads);
  float o[dim / 8][4] = {};
  RowPair state;
  int stage = 0;
  unsigned parity = 0;
  for (int token = start; token < range.end; token += decode_tile) {
    mbar_wait(&full[stage], parity);
    __syncwarp();
    // The stage read in the previous iteration is free once all lanes are here.
    copies.issue(stage == 0 ? bulk_stages - 1 : stage - 1);
    const unsigned char* keys = ring + stage * Layout::stage_bytes;
    if (++stage == bulk_stages) stage = 0, parity ^= 1U;
    float s[2][4];
    score_tile<dim, typename Layout::Tile>(s, q, keys);
    if (token < range.begin || token + warp_tokens > range.end)
      mask_outside(s, token, range.begin, range.end);
    std::uint32_t p[4];
    softmax_step(s, p, state, o, args.scale * log2_e);
    add_values<dim, typename Layout::Tile>(o, p, keys + Layout::Tile::bytes);
  }
  write_warp_states<dim>(args, range, shared, state, o);
}

template <int dim>
void launch_decode_bulk(const DecodeArgs& args, Stream stream) {
  const auto blocks = static_cast<unsigned>(args.merge.groups * args.merge.splits);
  launch(decode_bulk<dim>, {blocks}, mma_warps * 32, BulkLayout<dim>::shared_bytes, stream, args);
}

template void launch_decode_bulk<64>(const DecodeArgs& args, Stream stream);
template void launch_decode_bulk<128>(const DecodeArgs& args, Stream stream);

}  // namespace kvsim::kernels::KVSIM_BACKEND
