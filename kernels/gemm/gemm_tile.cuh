#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/gemm/gemm.h"

namespace kvsim::kernels::KVSIM_BACKEND {

// The shape of a block's work: Rows x Columns of C by warps of WarpRows x WarpColumns; a stage of
// the ring holds StageBytes of every row of A and of B.
template <class T, int Rows, int Columns, int WarpRows, int WarpColumns, int StageBytes, int Stages>
struct GemmTile {
  using Element = T;
  static constexpr int rows = Rows, columns = Columns, stages = Stages, stage_bytes = StageBytes;
  static constexpr int warp_rows = WarpRows, warp_columns = WarpColumns;
  static constexpr int warps_across = Columns / WarpColumns;
  static constexpr int threads = 32 * (Rows / WarpRows) * warps_across;
  static constexpr int chunks = StageBytes / 16;  // of a row of a stage
  static constexpr int stage_size = (Rows + Columns) * StageBytes;
  static constexpr unsigned shared_bytes = static_cast<unsigned>(Stages * stage_size);
  static_assert(WarpRows % 16 == 0 && WarpColumns % 16 == 0);
  static_assert(StageBytes == 64 || StageBytes == 128);
  static_assert(threads % chunks == 0);
};

// The place of chunk `chunk` of row `row` in a stage. Eight rows of one chunk, which one ldmatrix
// reads, lie in eight different groups of banks, without padding.
template <int StageBytes>
__device__ __forceinline__ int gemm_swizzle(int row, int chunk) {
  const int turn = StageBytes == 128 ? row & 7 : (row >> 1) & 3;
  return row * StageBytes + (chunk ^ turn) * 16;
}

// Copies StageBytes of `Rows` rows of a matrix; what lies beyond its edges becomes zero.
template <class Tile, int Rows>
__device__ __forceinline__ void gemm_load(unsigned char* to, Global<const unsigned char> matrix,
                                          int first_row, int rows, std::int64_t at,
                                          std::int64_t row_bytes) {
  constexpr int rows_at_once = Tile::threads / Tile::chunks;
  const int thread = static_cast<int>(threadIdx.x);
  const int chunk = thread % Tile::chunks;
  const std::int64_t column = at + chunk * 16;
#pragma unroll
  for (int u = 0; u < (Rows + rows_at_once - 1) / rows_at_once; ++u) {
    const int row = thread / Tile::chunks + u * rows_at_once;
    if (Rows % rows_at_once != 0 && row >= Rows) break;
    const bool inside = first_row + row < rows && column < row_bytes;
    const std::int64_t from = inside ? (first_row + row) * row_bytes + column : 0;
    cp_async16(to + gemm_swizzle<Tile::stage_bytes>(row, chunk), matrix + from, inside);
  }
}

template <class T>
__device__ __forceinline__ void gemm_multiply(float (&d)[4], const std::uint32_t (&a)[4],
                                              std::uint32_t b0, std::uint32_t b1) {
  if constexpr (sizeof(T) == 1)
    mma_e4m3_16832(d, a, b0, b1);
  else
    mma_bf16_16816(d, a, b0, b1);
}

// One stage: 32 bytes of every row are one step of the tensor cores, 16 x k by k x 8.
template <class Tile>
__device__ __forceinline__ void gemm_multiply_stage(
    float (&sum)[Tile::warp_rows / 16][Tile::warp_columns / 8][4], const unsigned char* a,
    const unsigned char* b, int warp_row, int warp_column) {
  constexpr int down = Tile::warp_rows / 16, across = Tile::warp_columns / 16;
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int step = 0; step < Tile::chunks / 2; ++step) {
    std::uint32_t left[down][4], right[across][4];
#pragma unroll
    for (int i = 0; i < down; ++i) {
      const int row = warp_row + 16 * i + lane % 16;
      ldsm4(left[i], a + gemm_swizzle<Tile::stage_bytes>(row, 2 * step + lane / 16));
    }
#pragma unroll
    for (int j = 0; j < across; ++j) {
      const int row = warp_column + 16 * j + lane % 8 + (lane / 16) * 8;
      ldsm4(right[j], b + gemm_swizzle<Tile::stage_bytes>(row, 2 * step + (lane / 8) % 2));
    }
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < 2 * across; ++j)
        gemm_multiply<typename Tile::Element>(sum[i][j], left[i], right[j / 2][2 * (j % 2)],
                                              right[j / 2][2 * (j % 2) + 1]);
  }
}

// Two neighbours of a row of C.
__device__ __forceinline__ void gemm_store(Global<Bf16> c, int row, int column, int m, int n,
                                           float first, float second) {
  if (row >= m || column >= n) return;
  const Global<Bf16> to = c + (static_cast<std::int64_t>(row) * n + column);
  const std::uint32_t both = pack_bf16(first, second);
  if (n % 2 == 0) {
    store(as<std::uint32_t>(to), both);
    return;
  }
  store(to, Bf16{static_cast<std::uint16_t>(both & 0xffffU)});
  if (column + 1 < n) store(to + 1, Bf16{static_cast<std::uint16_t>(both >> 16)});
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
