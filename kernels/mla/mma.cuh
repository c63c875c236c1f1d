#pragma once
#include "kernels/mla/merge.cuh"
#include "kernels/mla/tile.cuh"

// Absorbed decode on tensor cores; the README draws who computes what.
namespace kvsim::kernels::KVSIM_BACKEND {

// Sizes of a block with 16 * M rows. Q K: a warp does 16 * R rows over a quarter of k. P V: it does
// all rows for its part of the 512 columns.
template <int M>
struct MlaBlock {
  static constexpr int rows = 16 * M;
  static constexpr int R = M >= 4 ? 2 : 1;
  static constexpr int warps = 4 * M / R;
  static constexpr int threads = 32 * warps;
  static constexpr int k_steps = mla_row / 4 / 16;                 // of 16, per quarter
  static constexpr int column_tiles = mla_latent / warps / 8;      // of 8 columns, per warp
  static constexpr int score_floats = 4 * rows * mla_ring_tokens;  // a copy per quarter
  static constexpr int probability_bytes = 2 * rows * mla_ring_tokens;
};

template <int M, class Loader>
struct MlaShared {
  static constexpr int ring = 0;
  static constexpr int scores = mla_ring_stages * mla_stage_bytes;
  static constexpr int probabilities = scores + 4 * MlaBlock<M>::score_floats;        // two
  static constexpr int factors = probabilities + 2 * MlaBlock<M>::probability_bytes;  // two
  static constexpr int barriers = factors + 2 * 4 * MlaBlock<M>::rows;
  static constexpr int bytes = barriers + Loader::barrier_bytes;
  static_assert(bytes <= 227 * 1024);
};

struct alignas(8) MlaTwoFloats {
  float x, y;
};
struct alignas(8) MlaFourBf16 {
  std::uint32_t low, high;
};

// One thread of a block.
template <int M, class Loader>
struct MlaThread {
  using Block = MlaBlock<M>;
  using Shared = MlaShared<M, Loader>;

  const MlaArgs& args;
  unsigned char* shared;
  unsigned thread;
  int block_row;  // first row of the block
  Loader loader;

  std::uint32_t q[Block::R][Block::k_steps][4];
  float o[M][Block::column_tiles][4];
  float m[Block::R], l[Block::R];  // of own_row(r), l over the lane's four tokens per tile only

  __device__ MlaThread(const MlaArgs& a, unsigned char* s, unsigned index, int first_row)
      : args(a),
        shared(s),
        thread(index),
        block_row(first_row),
        loader(s + Shared::ring, s + Shared::barriers, index) {}

  __device__ int warp() const { return static_cast<int>(thread / 32); }
  __device__ int lane() const { return static_cast<int>(thread % 32); }
  __device__ int row_group() const { return static_cast<int>(thread / 128); }
  __device__ int quarter() const { return static_cast<int>(thread / 32 % 4); }

  // First row of the warp's 16 * R in Q K.
  __device__ int warp_row() const { return row_group() * 16 * Block::R; }
  // The rows whose softmax this lane takes part in: R times four per warp, eight lanes each.
  __device__ int own_row(int r) const { return warp_row() + r * 16 + quarter() * 4 + lane() / 8; }
  __device__ float* scores() const { return reinterpret_cast<float*>(shared + Shared::scores); }
  __device__ float* factors(int side) const {
    return reinterpret_cast<float*>(shared + Shared::factors) + side * Block::rows;
  }
  __device__ unsigned char* probabilities(int side) const {
    return shared + Shared::probabilities + side * Block::probability_bytes;
  }

  // A token's 16-byte chunk in a stage, for ldmatrix.
  __device__ const unsigned char* tile_at(int stage, int token, int chunk) const {
    return shared + Shared::ring + stage * mla_stage_bytes + token * mla_row_stride + chunk * 16;
  }

  // A operands of the warp's rows and quarter of k, straight from global memory.
  __device__ void load_q(int sequence) {
    const auto q0 = args.q + static_cast<std::int64_t>(sequence) * args.rows() * mla_row +
                    quarter() * (mla_row / 4) + 2 * (lane() % 4);
#pragma unroll
    for (int r = 0; r < Block::R; ++r) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = block_row + warp_row() + r * 16 + half * 8 + lane() / 4;
        const auto from = as<const std::uint32_t>(q0 + static_cast<std::int64_t>(row) * mla_row);
#pragma unroll
        for (int k = 0; k < Block::k_steps; ++k) {
          q[r][k][half] = row < args.rows() ? load(from + 8 * k) : 0U;
          q[r][k][2 + half] = row < args.rows() ? load(from + 8 * k + 4) : 0U;
        }
      }
    }
  }

  // The warp's quarter of Q K for 32 tokens, to shared memory: blocks of eight tokens at
  // block ^ (row % 4), free of bank conflicts both ways. R tiles of rows by 4 / R of tokens at a
  // time: four independent chains of products.
  __device__ void multiply_keys() {
    constexpr int R = Block::R, halves = 2 / R;
    const int token = (lane() / 16) * 8 + (lane() & 7);
    const int row = warp_row() + lane() / 4;
    float* const to =
        scores() + (quarter() * Block::rows + row) * mla_ring_tokens + 2 * (lane() % 4);
#pragma unroll
    for (int first = 0; first < 2; first += halves) {
      float s[R][2 * halves][4] = {};
#pragma unroll
      for (int k = 0; k < Block::k_steps; ++k) {
        const int chunk = quarter() * (mla_row / 32) + 2 * k + (lane() / 8) % 2;
#pragma unroll
        for (int half = 0; half < halves; ++half) {
          std::uint32_t b[4];
          ldsm4(b, tile_at(loader.stage, (first + half) * 16 + token, chunk));
#pragma unroll
          for (int r = 0; r < R; ++r) {
            mma_bf16_16816(s[r][2 * half], q[r][k], b[0], b[1]);
            mma_bf16_16816(s[r][2 * half + 1], q[r][k], b[2], b[3]);
          }
        }
      }
#pragma unroll
      for (int r = 0; r < R; ++r) {
#pragma unroll
        for (int i = 0; i < 2 * halves; ++i) {
          const int at = r * 16 * mla_ring_tokens + ((2 * first + i) ^ ((lane() / 4) & 3)) * 8;
          *reinterpret_cast<MlaTwoFloats*>(to + at) = {s[r][i][0], s[r][i][1]};
          *reinterpret_cast<MlaTwoFloats*>(to + at + 8 * mla_ring_tokens) = {s[r][i][2],
                                                                             s[r][i][3]};
        }
      }
    }
  }

  // Adds the quarters and does one step of the online softmax for own_row(r).
  __device__ void soften(int r, int tile_first, int limit, int side) {
    const int row = own_row(r), j = lane() % 8;
    const float* const from =
        scores() + row * mla_ring_tokens + ((j / 2) ^ (row & 3)) * 8 + (j & 1) * 4;
    float s[4] = {};
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const Words4 four =
          *reinterpret_cast<const Words4*>(from + part * Block::rows * mla_ring_tokens);
#pragma unroll
      for (int i = 0; i < 4; ++i) s[i] += std::bit_cast<float>(four.word[i]);
    }
    const float scale = args.scale * log2_e;
    float larger = m[r];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      s[i] = tile_first + 4 * j + i < limit ? s[i] * scale : minus_infinity;
      larger = mla_max2(larger, s[i]);
    }
    larger = lanes_max<8>(larger);
    const float origin = finite_or_zero(larger);
    const float keep = rescale(m[r], larger);
    float p[4], sum = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      p[i] = ex2(s[i] - origin);
      sum += p[i];
    }
    l[r] = l[r] * keep + sum;
    m[r] = larger;
    if (j == 0) factors(side)[row] = keep;
    unsigned char* const to = probabilities(side) + row * (2 * mla_ring_tokens) +
                              ((j / 2) ^ ((row >> 1) & 3)) * 16 + (j & 1) * 8;
    *reinterpret_cast<MlaFourBf16*>(to) = {pack_bf16(p[0], p[1]), pack_bf16(p[2], p[3])};
  }

  __device__ void rescale_output(int side) {
    float keep[M][2];
    bool moved = false;
#pragma unroll
    for (int i = 0; i < M; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        keep[i][half] = factors(side)[i * 16 + half * 8 + lane() / 4];
        moved = moved || keep[i][half] != 1.0F;
      }
    }
    if (!__any_sync(full_warp, moved)) return;
#pragma unroll
    for (int i = 0; i < M; ++i) {
#pragma unroll
      for (int c = 0; c < Block::column_tiles; ++c) {
#pragma unroll
        for (int e = 0; e < 4; ++e) o[i][c][e] *= keep[i][e / 2];
      }
    }
  }

  // O += P V for all rows of the block and the warp's columns.
  __device__ void multiply_values(int stage, int side) {
    const int token = ((lane() / 8) % 2) * 8 + (lane() & 7);
    const int chunk = warp() * Block::column_tiles + lane() / 16;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      std::uint32_t p[M][4];
#pragma unroll
      for (int i = 0; i < M; ++i) ldsm4(p[i], probability_row(side, i, k));
#pragma unroll
      for (int c = 0; c < Block::column_tiles; c += 2) {
        std::uint32_t v[4];
        ldsm4_trans(v, tile_at(stage, k * 16 + token, chunk + c));
#pragma unroll
        for (int i = 0; i < M; ++i) {
          mma_bf16_16816(o[i][c], p[i], v[0], v[1]);
          mma_bf16_16816(o[i][c + 1], p[i], v[2], v[3]);
        }
      }
    }
  }
  __device__ const unsigned char* probability_row(int side, int i, int k) const {
    const int row = i * 16 + lane() % 16;
    return probabilities(side) + row * (2 * mla_ring_tokens) +
           ((2 * k + lane() / 16) ^ ((row >> 1) & 3)) * 16;
  }

  __device__ void run_part(const MlaPart& part) {
    const int first = part.first_token;
    const MlaTileSource source{args.cache, part.sequence, first, first + part.tokens,
                               (part.tokens + mla_ring_tokens - 1) / mla_ring_tokens};
    loader.start(source, thread);
    load_q(part.sequence);
    const int len = load(args.cache.lens + part.sequence);
    int limit[Block::R];
#pragma unroll
    for (int r = 0; r < Block::R; ++r) {
      m[r] = minus_infinity;
      l[r] = 0;
      const int row_limit = args.limit(len, block_row + own_row(r));
      limit[r] = row_limit < source.end ? row_limit : source.end;
    }
#pragma unroll
    for (int i = 0; i < M; ++i) {
#pragma unroll
      for (int c = 0; c < Block::column_tiles; ++c) {
#pragma unroll
        for (int e = 0; e < 4; ++e) o[i][c][e] = 0;
      }
    }

    // One round more than tiles: P V of a tile is done in the round of the next one, in the other
    // order by every second group of rows, so that of the two warps that share a scheduler one
    // multiplies while the other does its softmax.
#pragma unroll 1
    for (int tile = 0; tile <= source.tiles; ++tile) {
      const int side = tile & 1;
      thread = opaque(thread);
      if (tile < source.tiles) {
        loader.wait_for_current();
        multiply_keys();
        sync_threads(static_cast<unsigned>(1 + row_group()), 128);
      }
#pragma unroll 1
      for (int step = 0; step < 2; ++step) {
        thread = opaque(thread);
        if (((step + row_group()) & 1) == 0) {
          if (tile == source.tiles) continue;
#pragma unroll
          for (int r = 0; r < Block::R; ++r)
            soften(r, first + tile * mla_ring_tokens, limit[r], side);
        } else if (tile > 0) {
          rescale_output(side ^ 1);
          multiply_values(mla_stage_after(loader.stage, mla_ring_stages - 1), side ^ 1);
        }
      }
      if (tile == source.tiles) break;
      loader.wait_for_next();
      __syncthreads();
      thread = opaque(thread);
      loader.refill(source, tile + mla_ring_stages - 1, thread);
      loader.advance();
    }
    thread = opaque(thread);
    finish(part, source.tiles & 1);
  }

  // `side` of the factors was last read two tiles ago.
  __device__ void finish(const MlaPart& part, int side) {
    const bool whole = part.slot < 0;
#pragma unroll
    for (int r = 0; r < Block::R; ++r) {
      l[r] = lanes_sum<8>(l[r]);
      if (lane() % 8 != 0) continue;
      const int own = own_row(r), row = block_row + own;
      factors(side)[own] = reciprocal_or_zero(l[r]);
      if (!whole && row < args.rows()) {
        const std::int64_t at = args.partials.row(part.slot, args.rows(), row);
        store(args.partials.m + at, m[r]);
        store(args.partials.l + at, l[r]);
      }
    }
    __syncthreads();
    const std::int64_t base =
        static_cast<std::int64_t>(whole ? part.sequence : part.slot) * args.rows();
#pragma unroll
    for (int i = 0; i < M; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int local = i * 16 + half * 8 + lane() / 4, row = block_row + local;
        if (row >= args.rows()) continue;
        const float inverse = factors(side)[local];
        const std::int64_t at =
            (base + row) * mla_latent + warp() * (8 * Block::column_tiles) + 2 * (lane() % 4);
#pragma unroll
        for (int c = 0; c < Block::column_tiles; ++c) {
          const float x = o[i][c][2 * half], y = o[i][c][2 * half + 1];
          if (whole) {
            store(as<std::uint32_t>(args.out + at + 8 * c), pack_bf16(x * inverse, y * inverse));
          } else {
            store(as<MlaTwoFloats>(args.partials.o + at + 8 * c), MlaTwoFloats{x, y});
          }
        }
      }
    }
    // The next part writes what this one still reads.
    __syncthreads();
  }
};

// Block (run, row block), row blocks of a run side by side: they read the same cache rows at the
// same time, the second time from L2.
template <int M, template <int> class Loader>
__global__ void __launch_bounds__(MlaBlock<M>::threads, 1) mla_mma(const MlaArgs args) {
  KVSIM_SHARED(shared);
  using OneLoader = Loader<MlaBlock<M>::warps>;
  const int row_blocks = (args.rows() + MlaBlock<M>::rows - 1) / MlaBlock<M>::rows;
  const int run = static_cast<int>(blockIdx.x) / row_blocks;
  const int row_block = static_cast<int>(blockIdx.x) % row_blocks;
  MlaThread<M, OneLoader> thread(args, shared, threadIdx.x, row_block * MlaBlock<M>::rows);
  const int end = load(args.run_first + run + 1);
  for (int part = load(args.run_first + run); part < end; ++part)
    thread.run_part(load(args.parts + part));
}

template <int M, template <int> class Loader>
void launch_mla_mma(const MlaArgs& args, Stream stream) {
  using OneLoader = Loader<MlaBlock<M>::warps>;
  const int row_blocks = (args.rows() + MlaBlock<M>::rows - 1) / MlaBlock<M>::rows;
  launch(mla_mma<M, Loader>, {static_cast<unsigned>(args.runs * row_blocks)},
         static_cast<unsigned>(MlaBlock<M>::threads),
         static_cast<unsigned>(MlaShared<M, OneLoader>::bytes), stream, args);
  if (args.slots > 0) launch_mla_merge(args, stream);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
