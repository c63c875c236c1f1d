#pragma once
#include "kernels/gemm/gemm_tile.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned gemm_naive_threads = 256;

// One thread per element of C, sixteen by sixteen elements per block: every value of A and B comes
// from memory (or a cache) once per element that needs it.
template <class T>
__global__ void __launch_bounds__(gemm_naive_threads) gemm_naive(const GemmArgs<T> args) {
  const int row = static_cast<int>(blockIdx.y * 16 + threadIdx.x / 16);
  const int column = static_cast<int>(blockIdx.x * 16 + threadIdx.x % 16);
  if (row >= args.m || column >= args.n) return;
  const Global<const T> a = args.a + static_cast<std::int64_t>(row) * args.k;
  const Global<const T> b = args.b + static_cast<std::int64_t>(column) * args.k;
  float sum = 0;
  for (int k = 0; k < args.k; ++k) sum += to_float(load(a + k)) * to_float(load(b + k));
  store(args.c + (static_cast<std::int64_t>(row) * args.n + column), to_bf16(args.scale * sum));
}

// The block's tile of C. Eight tiles down before the next column: the blocks that run at one time
// share rows of A and of B in L2.
struct GemmPlace {
  int row, column;
};
__device__ __forceinline__ GemmPlace gemm_place(int block, int tiles_down, int tiles_across) {
  constexpr int band = 8;
  const int band_blocks = band * tiles_across;
  const int first = block / band_blocks * band;
  const int height = tiles_down - first < band ? tiles_down - first : band;
  const int within = block % band_blocks;
  return {first + within % height, within / height};
}

// A ring of stages in shared memory: while the tensor cores work on one, the copies of the next
// Stages - 1 are under way. One barrier per stage: it says both that the stage has landed for all
// and that all are done with the one before, which the next copies overwrite.
template <class Tile>
__global__ void __launch_bounds__(Tile::threads)
    gemm_mma(const GemmArgs<typename Tile::Element> args) {
  KVSIM_SHARED(ring);
  const GemmPlace place =
      gemm_place(static_cast<int>(blockIdx.x), (args.m + Tile::rows - 1) / Tile::rows,
                 (args.n + Tile::columns - 1) / Tile::columns);
  const int first_row = place.row * Tile::rows, first_column = place.column * Tile::columns;
  const auto row_bytes =
      static_cast<std::int64_t>(args.k) * static_cast<int>(sizeof(typename Tile::Element));
  const auto a = as<const unsigned char>(args.a), b = as<const unsigned char>(args.b);
  const int count = static_cast<int>((row_bytes + Tile::stage_bytes - 1) / Tile::stage_bytes);
  const auto load_stage = [&](int stage) {
    if (stage < count) {
      unsigned char* const to = ring + stage % Tile::stages * Tile::stage_size;
      const std::int64_t at = static_cast<std::int64_t>(stage) * Tile::stage_bytes;
      gemm_load<Tile, Tile::rows>(to, a, first_row, args.m, at, row_bytes);
      gemm_load<Tile, Tile::columns>(to + Tile::rows * Tile::stage_bytes, b, first_column, args.n,
                                     at, row_bytes);
    }
    cp_commit();  // an empty group too: the wait counts groups
  };

  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int warp_row = warp / Tile::warps_across * Tile::warp_rows;
  const int warp_column = warp % Tile::warps_across * Tile::warp_columns;
  float sum[Tile::warp_rows / 16][Tile::warp_columns / 8][4] = {};

#pragma unroll
  for (int stage = 0; stage < Tile::stages - 1; ++stage) load_stage(stage);
  for (int stage = 0; stage < count; ++stage) {
    cp_wait<Tile::stages - 2>();
    __syncthreads();
    load_stage(stage + Tile::stages - 1);
    const unsigned char* const from = ring + stage % Tile::stages * Tile::stage_size;
    gemm_multiply_stage<Tile>(sum, from, from + Tile::rows * Tile::stage_bytes, warp_row,
                              warp_column);
  }
  cp_wait<0>();

#pragma unroll
  for (int i = 0; i < Tile::warp_rows / 16; ++i)
#pragma unroll
    for (int j = 0; j < Tile::warp_columns / 8; ++j) {
      const int row = first_row + warp_row + 16 * i + lane / 4;
      const int column = first_column + warp_column + 8 * j + lane % 4 * 2;
      const float(&d)[4] = sum[i][j];
      gemm_store(args.c, row, column, args.m, args.n, args.scale * d[0], args.scale * d[1]);
      gemm_store(args.c, row + 8, column, args.m, args.n, args.scale * d[2], args.scale * d[3]);
    }
}

template <class T>
void launch_gemm_naive(const GemmArgs<T>& args, Stream stream) {
  const auto tiles = [](int size) { return static_cast<unsigned>((size + 15) / 16); };
  launch(gemm_naive<T>, {tiles(args.n), tiles(args.m)}, gemm_naive_threads, 0, stream, args);
}

template <class Tile>
void launch_gemm_mma(const GemmArgs<typename Tile::Element>& args, Stream stream) {
  const auto tiles = [](int size, int tile) {
    return static_cast<unsigned>((size + tile - 1) / tile);
  };
  launch(gemm_mma<Tile>, {tiles(args.m, Tile::rows) * tiles(args.n, Tile::columns)},
         static_cast<unsigned>(Tile::threads), Tile::shared_bytes, stream, args);
}

// The variants of one format. The naive one is left out where it would take seconds, the tiles of
// few rows where they would read B once per 16 or 64 rows for nothing.
template <class T>
VariantList<GemmArgs<T>> gemm_variants_of(int min_cc) {
  using Args = GemmArgs<T>;
  // Half the width for E4M3: before compute capability 10 nearly all of its fragments are converted
  // to halves in registers, which 64 x 64 per warp leaves no room for.
  constexpr int wide = sizeof(T) == 1 ? 32 : 64;
  static const Variant<Args> list[] = {
      {"naive", 80, true, launch_gemm_naive<T>,
       [](const Args& a) {
         return static_cast<double>(a.m) * a.n * a.k <= static_cast<double>(1LL << 34);
       }},
      {"mma_128x128", min_cc, false, launch_gemm_mma<GemmTile<T, 128, 128, 64, wide, 64, 4>>},
      {"mma_64x64", min_cc, false, launch_gemm_mma<GemmTile<T, 64, 64, 32, 32, 128, 4>>,
       [](const Args& a) { return a.m <= 512; }},
      {"mma_16x32", min_cc, false, launch_gemm_mma<GemmTile<T, 16, 32, 16, 16, 128, 8>>,
       [](const Args& a) { return a.m <= 64; }},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
