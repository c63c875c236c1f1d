#pragma once
#include <span>

#include "cost/operators/device.h"
#include "cost/operators/shapes.h"

// How GEMM libraries cut y[m, n] into tiles, one per CTA. Some try every tile of a list and keep
// the fastest (cuBLAS), some follow a rule of their own in m, n and k. The choice decides whether a
// shape is fast, and so it decides errors more than any rate does.
namespace kvsim::cost {

struct Tile {
  double m = 128, n = 128;
  double loaded = 256;  // rows and columns fetched per step of k: m + n, less what CTAs share
  double computed = 128 * 128;  // elements that the matrix units work through, padding included
  bool crowded = false;         // does not fit the registers of its kernel
  bool uneven = false;          // straddles two blocks of scales
};
constexpr Tile tile(double m, double n) { return {m, n, m + n, m * n}; }

// Rules. Sources: the dispatchers of vLLM's csrc/quantization (CUTLASS, by architecture), the
// heuristics of DeepGEMM and TensorRT-LLM's fp8_blockscale_gemm.
Tile deepgemm_hopper(const Gemm& s, const Device& d);
Tile deepgemm_blackwell(const Gemm& s, const Device& d);
Tile cutlass_ada_fp8(const Gemm& s, const Device& d);
Tile cutlass_hopper_fp8(const Gemm& s, const Device& d);
Tile cutlass_hopper_fp8_swapped(const Gemm& s, const Device& d);
Tile cutlass_blackwell_fp8(const Gemm& s, const Device& d);
Tile cutlass_rtx_fp8(const Gemm& s, const Device& d);
Tile cutlass_rtx_fp4(const Gemm& s, const Device& d);
Tile fixed_32x128(const Gemm& s, const Device& d);
Tile fixed_128x128(const Gemm& s, const Device& d);

// Smallest whole number not below x >= 0, without a call.
inline double round_up(double x) {
  const double whole = static_cast<double>(static_cast<long long>(x));
  return whole < x ? whole + 1 : whole;
}
inline double tiles(double size, double tile_size) { return round_up(size / tile_size); }

}  // namespace kvsim::cost
