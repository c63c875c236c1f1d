#pragma once
#include "kernels/mla/cache.cuh"

// A ring of tiles of 32 cache rows in shared memory, and the two ways to fill it.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int mla_ring_tokens = 32;
constexpr int mla_ring_stages = 5;
constexpr int mla_row_bytes = mla_row * 2;
// 16 bytes more than a row, so that the eight rows of an 8 x 8 matrix lie in different banks. A
// swizzle would save the padding, but its addresses cost registers and bulk copies cannot do it.
constexpr int mla_row_stride = mla_row_bytes + 16;
constexpr int mla_stage_bytes = mla_ring_tokens * mla_row_stride;

__device__ inline int mla_stage_after(int stage, int steps) {
  const int sum = stage + steps;
  return sum < mla_ring_stages ? sum : sum - mla_ring_stages;
}

// The tokens of one part, as the loaders see them.
struct MlaTileSource {
  LatentCache cache;
  int sequence, first, end;  // tokens [first, end)
  int tiles;

  __device__ int row_of(int token) const { return mla_cache_row(cache, sequence, token); }
};

// Chunks of 16 bytes by cp.async, all warps. Rows past the end are zeros. The table is read one
// tile ahead: lane i of a warp holds the cache row of its i-th tile row.
template <int Warps>
struct MlaAsyncLoader {
  static constexpr int barrier_bytes = 0;
  static constexpr int rows_per_warp = mla_ring_tokens / Warps;

  unsigned char* ring;
  int stage = 0;
  int ahead = -1;

  __device__ MlaAsyncLoader(unsigned char* ring_at, unsigned char*, unsigned) : ring(ring_at) {}

  __device__ void look_ahead(const MlaTileSource& source, int tile, unsigned thread) {
    const int warp = static_cast<int>(thread / 32), lane = static_cast<int>(thread % 32);
    const int token = source.first + tile * mla_ring_tokens + warp + lane * Warps;
    ahead = lane < rows_per_warp && token < source.end ? source.row_of(token) : -1;
  }

  __device__ void issue(const MlaTileSource& source, int tile, int to_stage, unsigned thread) {
    if (tile < source.tiles) {
      const int warp = static_cast<int>(thread / 32), lane = static_cast<int>(thread % 32);
      unsigned char* const to =
          ring + to_stage * mla_stage_bytes + warp * mla_row_stride + 16 * lane;
#pragma unroll
      for (int i = 0; i < rows_per_warp; ++i) {
        const int row = __shfl_sync(full_warp, ahead, i);
        const auto from = mla_cache_row_address(source.cache, row < 0 ? 0 : row) + 8 * lane;
        unsigned char* const at = to + i * Warps * mla_row_stride;
        cp_async16(at, from, row >= 0);
        cp_async16(at + 512, from + 256, row >= 0);
        if (lane < 8) cp_async16(at + 1024, from + 512, row >= 0);
      }
      look_ahead(source, tile + 1, thread);
    }
    cp_commit();
  }

  // All but one stage are on their way; the first tile can be read.
  __device__ void start(const MlaTileSource& source, unsigned thread) {
    look_ahead(source, 0, thread);
#pragma unroll 1
    for (int t = 0; t < mla_ring_stages - 1; ++t)
      issue(source, t, mla_stage_after(stage, t), thread);
    cp_wait<mla_ring_stages - 2>();
    __syncthreads();
  }
  __device__ void wait_for_current() {}
  // Before a barrier after which the next tile may be read.
  __device__ void wait_for_next() { cp_wait<mla_ring_stages - 3>(); }
  // After that barrier: the stage before the current one is free.
  __device__ void refill(const MlaTileSource& source, int tile, unsigned thread) {
    issue(source, tile, mla_stage_after(stage, mla_ring_stages - 1), thread);
  }
  __device__ void advance() { stage = mla_stage_after(stage, 1); }
};

// A bulk copy per cache row, issued by one warp, a row per lane. Past the end the last row is
// copied again, from L2: its probabilities are zero and its numbers finite.
template <int Warps>
struct MlaBulkLoader {
  static constexpr int barrier_bytes = 8 * mla_ring_stages;

  unsigned char* ring;
  std::uint64_t* full;  // by stage
  int stage = 0, ahead = 0;
  unsigned parity = 0;

  __device__ MlaBulkLoader(unsigned char* ring_at, unsigned char* barriers, unsigned thread)
      : ring(ring_at), full(reinterpret_cast<std::uint64_t*>(barriers)) {
    if (thread == 0)
      for (int i = 0; i < mla_ring_stages; ++i) mbar_init(full + i, 1);
    __syncthreads();
  }

  __device__ void look_ahead(const MlaTileSource& source, int tile, unsigned thread) {
    const int token = source.first + tile * mla_ring_tokens + static_cast<int>(thread);
    ahead = source.row_of(token < source.end ? token : source.end - 1);
  }

  __device__ void issue(const MlaTileSource& source, int tile, int to_stage, unsigned thread) {
    if (thread >= 32 || tile >= source.tiles) return;
    std::uint64_t* const bar = full + to_stage;
    if (thread == 0) mbar_expect_tx(bar, mla_ring_tokens * mla_row_bytes);
    __syncwarp();
    bulk_g2s(ring + to_stage * mla_stage_bytes + static_cast<int>(thread) * mla_row_stride,
             mla_cache_row_address(source.cache, ahead), mla_row_bytes, bar);
    look_ahead(source, tile + 1, thread);
  }

  __device__ void start(const MlaTileSource& source, unsigned thread) {
    if (thread < 32 && source.tiles > 0) look_ahead(source, 0, thread);
#pragma unroll 1
    for (int t = 0; t < mla_ring_stages - 1; ++t)
      issue(source, t, mla_stage_after(stage, t), thread);
  }
  __device__ void wait_for_current() { mbar_wait(full + stage, parity); }
  __device__ void wait_for_next() {}
  __device__ void refill(const MlaTileSource& source, int tile, unsigned thread) {
    issue(source, tile, mla_stage_after(stage, mla_ring_stages - 1), thread);
  }
  __device__ void advance() {
    stage = mla_stage_after(stage, 1);
    if (stage == 0) parity ^= 1U;
  }
};

}  // namespace kvsim::kernels::KVSIM_BACKEND
