#pragma once
#include "kernels/attention/paged_kv.cuh"
#include "kernels/attention/softmax.cuh"
#include "kernels/h2o/h2o.h"

// Split-KV decode on tensor cores that leaves its scores in global memory. A block of four warps
// takes one split of one (sequence, kv head); its query heads are the rows of a 16-row matrix. Each
// warp has its own tiles of 16 tokens and its own ring, so that no barrier is needed until the end.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int stash_warps = 4, stash_stages = 3, stash_tile = 16;

template <int width>
struct StashLayout {
  static constexpr int chunks = width / 8;  // of 16 bytes in a row
  static constexpr int tile_bytes = stash_tile * width * 2;
  static constexpr int ring_bytes = 2 * stash_stages * tile_bytes;  // keys and values of one warp
  static constexpr int query_bytes = 16 * width * 2;
  static constexpr int shared_bytes = query_bytes + stash_warps * ring_bytes;
  // The merge at the end lies over the rings: o of all warps, then m and l.
  static_assert(stash_warps * ring_bytes >= stash_warps * 16 * (width + 2) * 4);

  __device__ static unsigned char* chunk(unsigned char* tile, int row, int c) {
    return tile + (row * chunks + swizzled(row, c)) * 16;
  }
};

// What one warp knows of its split.
struct StashPlace {
  int sequence, kv_head, begin, end, lane, warp;
  unsigned char* ring;
  __device__ int first_token(int step) const {
    return begin + (step * stash_warps + warp) * stash_tile;
  }
};

// Where the row of token (first + lane % 16) lies; -1 beyond the end.
__device__ __forceinline__ std::int64_t stash_row(const H2oArgs& args, const StashPlace& at,
                                                  int step) {
  const int token = at.first_token(step) + at.lane % stash_tile;
  return token < at.end ? row_of_token(args.kv, args.log_page, at.sequence, at.kv_head, token) : -1;
}

// Asks for the tile of `step`. Rows beyond the end become zeros.
template <int width>
__device__ __forceinline__ void stash_request(const H2oArgs& args, const StashPlace& at, int step,
                                              std::int64_t my_row) {
  using Layout = StashLayout<width>;
  unsigned char* const keys = at.ring + step % stash_stages * 2 * Layout::tile_bytes;
  unsigned char* const values = keys + Layout::tile_bytes;
  constexpr int rows_at_once = 32 / Layout::chunks;
  const int c = at.lane % Layout::chunks;
#pragma unroll
  for (int i = 0; i < stash_tile / rows_at_once; ++i) {
    const int r = i * rows_at_once + at.lane / Layout::chunks;
    const std::int64_t row = __shfl_sync(full_warp, my_row, r);
    const std::int64_t from = row < 0 ? 0 : row + c * 8;
    cp_async16(Layout::chunk(keys, r, c), args.kv.keys + from, row >= 0);
    cp_async16(Layout::chunk(values, r, c), args.kv.values + from, row >= 0);
  }
}

// s = Q K^T of one tile: s[n][0, 1] are row lane / 4, tokens n * 8 + lane % 4 * 2 and the next;
// s[n][2, 3] are row lane / 4 + 8.
template <int width>
__device__ __forceinline__ void stash_scores(float (&s)[2][4],
                                             const std::uint32_t (&q)[width / 16][4],
                                             unsigned char* keys, int lane) {
  const int token = lane / 16 * 8 + lane % 8, half = lane / 8 % 2;
#pragma unroll
  for (int k = 0; k < width / 16; ++k) {
    std::uint32_t b[4];
    ldsm4(b, StashLayout<width>::chunk(keys, token, 2 * k + half));
    mma_bf16_16816(s[0], q[k], b[0], b[1]);
    mma_bf16_16816(s[1], q[k], b[2], b[3]);
  }
}

template <int width>
__device__ __forceinline__ void stash_values(float (&o)[width / 8][4], const std::uint32_t (&p)[4],
                                             unsigned char* values, int lane) {
  const int token = lane / 8 % 2 * 8 + lane % 8, half = lane / 16;
#pragma unroll
  for (int n = 0; n < width / 16; ++n) {
    std::uint32_t b[4];
    ldsm4_trans(b, StashLayout<width>::chunk(values, token, 2 * n + half));
    mma_bf16_16816(o[2 * n], p, b[0], b[1]);
    mma_bf16_16816(o[2 * n + 1], p, b[2], b[3]);
  }
}

// Scales and masks the scores, and leaves those of real heads and tokens in global memory.
__device__ __forceinline__ void stash_store(const H2oArgs& args, const StashPlace& at, int step,
                                            float (&s)[2][4]) {
  const std::int64_t first_row =
      (static_cast<std::int64_t>(at.sequence) * args.kv.kv_heads + at.kv_head) *
      args.heads_per_group;
#pragma unroll
  for (int n = 0; n < 2; ++n) {
    const int token = at.first_token(step) + n * 8 + at.lane % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float& left = s[n][2 * half];
      float& right = s[n][2 * half + 1];
      left = token < at.end ? left * args.scale_log2 : minus_infinity;
      right = token + 1 < at.end ? right * args.scale_log2 : minus_infinity;
      const int head = at.lane / 4 + 8 * half;
      if (head >= args.heads_per_group || token >= at.end) continue;
      const Global<float> to = args.scores + ((first_row + head) * args.stride + token);
      if (token + 1 < at.end)
        store(as<std::uint64_t>(to),
              std::bit_cast<std::uint32_t>(left) |
                  static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(right)) << 32);
      else
        store(to, left);
    }
  }
}

// One tile into the running state of rows lane / 4 and lane / 4 + 8. l is this lane's share.
template <int width>
__device__ __forceinline__ void stash_softmax(float (&s)[2][4], float (&m)[2], float (&l)[2],
                                              float (&o)[width / 8][4], std::uint32_t (&p)[4]) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float most = s[0][2 * half];
    most = s[0][2 * half + 1] > most ? s[0][2 * half + 1] : most;
    most = s[1][2 * half] > most ? s[1][2 * half] : most;
    most = s[1][2 * half + 1] > most ? s[1][2 * half + 1] : most;
    most = quad_max(most);
    const float m_new = most > m[half] ? most : m[half];
    const float keep = rescale(m[half], m_new), base = finite_or_zero(m_new);
    m[half] = m_new;
#pragma unroll
    for (int n = 0; n < width / 8; ++n) {
      o[n][2 * half] *= keep;
      o[n][2 * half + 1] *= keep;
    }
    l[half] *= keep;
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      const float left = ex2(s[n][2 * half] - base), right = ex2(s[n][2 * half + 1] - base);
      l[half] += left + right;
      p[2 * n + half] = pack_bf16(left, right);
    }
  }
}

// The four warps' states become one partial.
template <int width>
__device__ __forceinline__ void stash_merge(const H2oArgs& args, const StashPlace& at,
                                            unsigned char* shared, const float (&m)[2],
                                            const float (&l)[2], const float (&o)[width / 8][4]) {
  auto* const all_o = reinterpret_cast<float*>(shared);
  auto* const all_m = all_o + stash_warps * 16 * width;
  auto* const all_l = all_m + stash_warps * 16;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float sum = quad_sum(l[half]);
    const int row = at.warp * 16 + at.lane / 4 + 8 * half;
#pragma unroll
    for (int n = 0; n < width / 8; ++n) {
      float* const to = all_o + row * width + n * 8 + at.lane % 4 * 2;
      to[0] = o[n][2 * half];
      to[1] = o[n][2 * half + 1];
    }
    if (at.lane % 4 == 0) {
      all_m[row] = m[half];
      all_l[row] = sum;
    }
  }
  __syncthreads();
  const int group = at.sequence * args.kv.kv_heads + at.kv_head;
  const std::int64_t partial = static_cast<std::int64_t>(group) * args.splits + blockIdx.x;
  for (int i = static_cast<int>(threadIdx.x); i < args.heads_per_group * width;
       i += stash_warps * 32) {
    const int head = i / width, column = i % width;
    float m_all = minus_infinity;
    for (int w = 0; w < stash_warps; ++w)
      m_all = all_m[w * 16 + head] > m_all ? all_m[w * 16 + head] : m_all;
    float l_all = 0, o_all = 0;
    for (int w = 0; w < stash_warps; ++w) {
      const float weight = rescale(all_m[w * 16 + head], m_all);
      l_all += weight * all_l[w * 16 + head];
      o_all += weight * all_o[(w * 16 + head) * width + column];
    }
    const std::int64_t row = args.partials.row(partial, args.heads_per_group, head);
    store(args.partials.o + (row * width + column), o_all);
    if (column == 0) {
      store(args.partials.m + row, m_all);
      store(args.partials.l + row, l_all);
    }
  }
}

// The query heads' rows as fragments; rows beyond them are zero.
template <int width>
__device__ __forceinline__ void stash_query(const H2oArgs& args, const StashPlace& at,
                                            unsigned char* shared,
                                            std::uint32_t (&q)[width / 16][4]) {
  using Layout = StashLayout<width>;
  const std::int64_t first =
      (static_cast<std::int64_t>(at.sequence) * args.kv.kv_heads + at.kv_head) *
      args.heads_per_group * Layout::chunks;
  for (int i = static_cast<int>(threadIdx.x); i < 16 * Layout::chunks; i += stash_warps * 32) {
    const int row = i / Layout::chunks, c = i % Layout::chunks;
    const Words4 word =
        row < args.heads_per_group ? load(as<const Words4>(args.q) + (first + i)) : Words4{};
    *reinterpret_cast<Words4*>(Layout::chunk(shared, row, c)) = word;
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < width / 16; ++k)
    ldsm4(q[k], Layout::chunk(shared, at.lane % 16, 2 * k + at.lane / 16));
}

template <int width>
__global__ void __launch_bounds__(stash_warps * 32, 2) h2o_stash(const H2oArgs args) {
  KVSIM_SHARED(shared);
  using Layout = StashLayout<width>;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const int group = static_cast<int>(blockIdx.y);
  StashPlace at{group / args.kv.kv_heads,
                group % args.kv.kv_heads,
                0,
                0,
                lane,
                warp,
                shared + Layout::query_bytes + warp * Layout::ring_bytes};
  const int len = load(args.kv.lens + at.sequence);
  at.begin = static_cast<int>(blockIdx.x) * args.split_tokens;
  at.end = at.begin + args.split_tokens < len ? at.begin + args.split_tokens : len;
  if (at.begin >= at.end) {
    const std::int64_t partial = static_cast<std::int64_t>(group) * args.splits + blockIdx.x;
    if (static_cast<int>(threadIdx.x) < args.heads_per_group) {
      const std::int64_t row =
          args.partials.row(partial, args.heads_per_group, static_cast<int>(threadIdx.x));
      store(args.partials.m + row, minus_infinity);
      store(args.partials.l + row, 0.0F);
    }
    return;
  }
  constexpr int step_tokens = stash_warps * stash_tile;
  const int steps = (at.end - at.begin + step_tokens - 1) / step_tokens;

  // The row of the tile after next is looked up while the copies before it are on their way.
  std::int64_t next_row = stash_row(args, at, 0);
#pragma unroll
  for (int step = 0; step < stash_stages - 1; ++step) {
    if (step < steps) stash_request<width>(args, at, step, next_row);
    cp_commit();
    next_row = stash_row(args, at, step + 1);
  }
  std::uint32_t q[width / 16][4];
  stash_query<width>(args, at, shared, q);

  float m[2] = {minus_infinity, minus_infinity}, l[2] = {}, o[width / 8][4] = {};
  for (int step = 0; step < steps; ++step) {
    cp_wait<stash_stages - 2>();
    __syncwarp();
    unsigned char* const keys = at.ring + step % stash_stages * 2 * Layout::tile_bytes;
    float s[2][4] = {};
    stash_scores<width>(s, q, keys, lane);
    // The stage that the last step read: its reads are behind the barrier above.
    const int ahead = step + stash_stages - 1;
    if (ahead < steps) stash_request<width>(args, at, ahead, next_row);
    cp_commit();
    next_row = stash_row(args, at, ahead + 1);
    stash_store(args, at, step, s);
    std::uint32_t p[4];
    stash_softmax<width>(s, m, l, o, p);
    stash_values<width>(o, p, keys + Layout::tile_bytes, lane);
  }
  cp_wait<0>();
  __syncthreads();
  stash_merge<width>(args, at, shared + Layout::query_bytes, m, l, o);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
