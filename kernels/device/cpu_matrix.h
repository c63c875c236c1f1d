#pragma once
#include <cstdint>

#include "kernels/simt/matrix.h"

// Tensor core operations of one warp under the executor.
namespace kvsim::kernels::cpu {

inline void ldsm4(std::uint32_t (&r)[4], const void* row, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  simt::ldmatrix_x4(r, row, simt::Transpose::no, {file, line});
}
inline void ldsm4_trans(std::uint32_t (&r)[4], const void* row, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) {
  simt::ldmatrix_x4(r, row, simt::Transpose::yes, {file, line});
}
inline std::uint32_t movmatrix_trans(std::uint32_t value, const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE()) {
  return simt::movmatrix_trans(value, {file, line});
}
inline void mma_bf16_16816(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                           std::uint32_t b1, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  simt::mma_16x8(simt::MatrixType::bf16, d, a, b0, b1, {file, line});
}
inline void mma_f16_16816(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                          std::uint32_t b1, const char* file = __builtin_FILE(),
                          int line = __builtin_LINE()) {
  simt::mma_16x8(simt::MatrixType::f16, d, a, b0, b1, {file, line});
}
inline void mma_e4m3_16832(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                           std::uint32_t b1, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  simt::mma_16x8(simt::MatrixType::e4m3, d, a, b0, b1, {file, line});
}

}  // namespace kvsim::kernels::cpu
