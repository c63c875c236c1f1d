#include "kernels/simt/matrix.h"

#include <cstring>
#include <string>

#include "kernels/numbers/numbers.h"
#include "kernels/simt/collectives.h"
#include "kernels/simt/fault.h"
#include "kernels/simt/sanitizers.h"

namespace kvsim::simt {
namespace {

constexpr std::uint32_t full_warp = 0xffffffffU;

struct Registers {
  float* d;
  const std::uint32_t* a;
  std::uint32_t b[2];
};

float element(MatrixType type, std::uint32_t word, unsigned position) {
  using namespace kernels;
  switch (type) {
    case MatrixType::bf16:
      return to_float(Bf16{static_cast<std::uint16_t>(word >> (16 * position))});
    case MatrixType::f16:
      return to_float(F16{static_cast<std::uint16_t>(word >> (16 * position))});
    case MatrixType::e4m3:
      return to_float(E4m3{static_cast<std::uint8_t>(word >> (8 * position))});
  }
  return 0;
}

// With e elements per register and group = lane / 4, quad = lane % 4: register r of A holds rows
// group + 8 (r & 1), columns 4 e (r >> 1) + e quad ...; register r of B holds column group, rows
// 4 e r + e quad ...; D holds rows group and group + 8, columns 2 quad and 2 quad + 1.
template <MatrixType type>
void multiply(void* const* data, std::uint32_t) {
  constexpr unsigned per_word = type == MatrixType::e4m3 ? 4 : 2;
  constexpr unsigned depth = 8 * per_word;
  float a[16][depth];
  float b[8][depth];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto* regs = static_cast<const Registers*>(data[lane]);
    const unsigned group = lane / 4, quad = lane % 4;
    for (unsigned p = 0; p < per_word; ++p) {
      const unsigned column = per_word * quad + p;
      for (unsigned r = 0; r < 4; ++r)
        a[group + 8 * (r & 1U)][4 * per_word * (r >> 1U) + column] = element(type, regs->a[r], p);
      for (unsigned r = 0; r < 2; ++r)
        b[group][4 * per_word * r + column] = element(type, regs->b[r], p);
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto* regs = static_cast<const Registers*>(data[lane]);
    for (unsigned i = 0; i < 4; ++i) {
      const float* row = a[lane / 4 + 8 * (i >> 1U)];
      const float* column = b[2 * (lane % 4) + (i & 1U)];
      float sum = 0;
      for (unsigned k = 0; k < depth; ++k) sum += row[k] * column[k];
      regs->d[i] += sum;
    }
  }
}

struct Rows {
  std::uint32_t* r;
  const unsigned char* row;
};

void load_rows(void* const* data, std::uint32_t) {
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned m = 0; m < 4; ++m)
      std::memcpy(&static_cast<Rows*>(data[lane])->r[m],
                  static_cast<Rows*>(data[8 * m + lane / 4])->row + 4 * (lane % 4), 4);
}

void load_columns(void* const* data, std::uint32_t) {
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned m = 0; m < 4; ++m) {
      std::uint16_t half[2];
      for (unsigned i = 0; i < 2; ++i)
        std::memcpy(&half[i],
                    static_cast<Rows*>(data[8 * m + 2 * (lane % 4) + i])->row + 2 * (lane / 4), 2);
      static_cast<Rows*>(data[lane])->r[m] = half[0] | static_cast<std::uint32_t>(half[1]) << 16;
    }
}

}  // namespace

void mma_16x8(MatrixType type, float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
              std::uint32_t b1, Site site) {
  Registers registers{d, a, {b0, b1}};
  switch (type) {
    case MatrixType::bf16:
      return rendezvous(full_warp, "mma", site, &registers, multiply<MatrixType::bf16>);
    case MatrixType::f16:
      return rendezvous(full_warp, "mma", site, &registers, multiply<MatrixType::f16>);
    case MatrixType::e4m3:
      return rendezvous(full_warp, "mma", site, &registers, multiply<MatrixType::e4m3>);
  }
}

void ldmatrix_x4(std::uint32_t (&r)[4], const void* row, Transpose transpose, Site site) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
    fail(std::string("ldmatrix of a row that is not aligned to 16 bytes at ") + site.file + ":" +
         std::to_string(site.line));
  sanitizers::note_read16(row);
  Rows rows{r, static_cast<const unsigned char*>(row)};
  rendezvous(full_warp, "ldmatrix", site, &rows,
             transpose == Transpose::yes ? load_columns : load_rows);
}

}  // namespace kvsim::simt
