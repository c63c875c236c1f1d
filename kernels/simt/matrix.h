#pragma once
#include <cstdint>

#include "kernels/simt/lane.h"

// Tensor core operations of one warp, with the register layouts of the PTX manual (mma.m16n8k16,
// mma.m16n8k32, ldmatrix). Products are added in fp32, in order of k; hardware adds in another
// order, so results agree within rounding, not in every bit.
namespace kvsim::simt {

enum class MatrixType { bf16, f16, e4m3 };

// D += A B. A: 16 x k row-major in 4 registers, B: k x 8 in 2, D: 16 x 8 in 4 floats.
void mma_16x8(MatrixType type, float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
              std::uint32_t b1, Site site);

enum class Transpose { no, yes };

// Four 8 x 8 matrices of 16-bit elements; lane i gives row i % 8 of matrix i / 8 (16 bytes,
// aligned).
void ldmatrix_x4(std::uint32_t (&r)[4], const void* row, Transpose transpose, Site site);

// The transpose of an 8 x 8 matrix of 16-bit elements, of which lane i holds elements 2 (i % 4) and
// the next of row i / 4, before and after.
std::uint32_t movmatrix_trans(std::uint32_t value, Site site);

}  // namespace kvsim::simt
