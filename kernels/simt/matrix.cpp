#include "kernels/simt/matrix.h"

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "kernels/numbers/numbers.h"
#include "kernels/simt/block_runner.h"
#include "kernels/simt/collectives.h"
#include "kernels/simt/fault.h"
#include "kernels/simt/sanitizers.h"

namespace kvsim::simt {
namespace {

constexpr std::uint32_t full_warp = 0xffffffffU;

// Four columns at once.
using Floats4 [[gnu::vector_size(16)]] = float;

struct Registers {
  float* d;
  const std::uint32_t* a;
  std::uint32_t b[2];
};

constexpr auto e4m3_values = [] {
  std::array<float, 256> values{};
  for (unsigned i = 0; i < 256; ++i)
    values[i] = kernels::to_float(kernels::E4m3{static_cast<std::uint8_t>(i)});
  return values;
}();

template <MatrixType type>
float element(std::uint32_t word, unsigned position) {
  if constexpr (type == MatrixType::bf16) {
    return std::bit_cast<float>(position == 0 ? word << 16 : word & 0xffff0000U);
  } else if constexpr (type == MatrixType::f16) {
    return kernels::to_float(kernels::F16{static_cast<std::uint16_t>(word >> (16 * position))});
  } else {
    return e4m3_values[word >> (8 * position) & 0xffU];
  }
}

// With e elements per register and group = lane / 4, quad = lane % 4: register r of A holds rows
// group + 8 (r & 1), columns 4 e (r >> 1) + e quad ...; register r of B holds column group, rows
// 4 e r + e quad ...; D holds rows group and group + 8, columns 2 quad and 2 quad + 1.
template <MatrixType type>
void multiply(void* const* data, std::uint32_t) {
  constexpr unsigned per_word = type == MatrixType::e4m3 ? 4 : 2;
  constexpr unsigned depth = 8 * per_word;
  float a[16][depth];
  Floats4 b[depth][2];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto* regs = static_cast<const Registers*>(data[lane]);
    const unsigned group = lane / 4, quad = lane % 4;
    for (unsigned p = 0; p < per_word; ++p) {
      const unsigned column = per_word * quad + p;
      for (unsigned r = 0; r < 4; ++r)
        a[group + 8 * (r & 1U)][4 * per_word * (r >> 1U) + column] = element<type>(regs->a[r], p);
      for (unsigned r = 0; r < 2; ++r)
        b[4 * per_word * r + column][group / 4][group % 4] = element<type>(regs->b[r], p);
    }
  }
  for (unsigned row = 0; row < 16; ++row) {
    Floats4 sum[2] = {};
    for (unsigned k = 0; k < depth; ++k) {
      sum[0] += a[row][k] * b[k][0];
      sum[1] += a[row][k] * b[k][1];
    }
    for (unsigned column = 0; column < 8; ++column) {
      const auto* regs = static_cast<const Registers*>(data[4 * (row % 8) + column / 2]);
      regs->d[2 * (row / 8) + column % 2] += sum[column / 4][column % 4];
    }
  }
}

struct Rows {
  std::uint32_t* r;
  const unsigned char* row;
  const unsigned char* sources[8];  // where this lane's words came from, for ThreadSanitizer
};

// Which bytes of a matrix a lane is handed: of row lane / 4 its word lane % 4, or, transposed, of
// rows 2 (lane % 4) and the next their element lane / 4.
void load_rows(void* const* data, std::uint32_t) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto* to = static_cast<Rows*>(data[lane]);
    for (unsigned m = 0; m < 4; ++m) {
      to->sources[m] = static_cast<Rows*>(data[8 * m + lane / 4])->row + 4 * (lane % 4);
      std::memcpy(&to->r[m], to->sources[m], 4);
    }
  }
}

void load_columns(void* const* data, std::uint32_t) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto* to = static_cast<Rows*>(data[lane]);
    for (unsigned m = 0; m < 4; ++m) {
      std::uint16_t half[2];
      for (unsigned i = 0; i < 2; ++i) {
        to->sources[2 * m + i] =
            static_cast<Rows*>(data[8 * m + 2 * (lane % 4) + i])->row + 2 * (lane / 4);
        std::memcpy(&half[i], to->sources[2 * m + i], 2);
      }
      to->r[m] = half[0] | static_cast<std::uint32_t>(half[1]) << 16;
    }
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
  current->runner->require_shared(row, 16, "ldmatrix", site);
  Rows rows{r, static_cast<const unsigned char*>(row), {}};
  rendezvous(full_warp, "ldmatrix", site, &rows,
             transpose == Transpose::yes ? load_columns : load_rows);
  // A lane reads what it is handed, whoever named the row.
  if (!sanitizers::thread_sanitizer()) return;
  for (unsigned i = 0; i < 8; ++i)
    if (transpose == Transpose::yes)
      sanitizers::note_read2(rows.sources[i]);
    else if (i < 4)
      sanitizers::note_read4(rows.sources[i]);
}

}  // namespace kvsim::simt
