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
using Words4 [[gnu::vector_size(16)]] = std::int32_t;

struct Registers {
  float* d;
  const std::uint32_t* a;
  std::uint32_t b[2];
};

// The operands of a product, gathered from the lanes. A word is a register: two or four elements
// that are neighbours in k, and a row of A or a column of B is eight words in every format.
struct Operands {
  alignas(16) std::uint32_t a[16][8];  // row, word
  alignas(16) std::uint32_t b[8][8];   // word, column
};

constexpr unsigned elements_per_word(MatrixType type) { return type == MatrixType::e4m3 ? 4 : 2; }

constexpr auto e4m3_values = [] {
  std::array<float, 256> values{};
  for (unsigned i = 0; i < 256; ++i)
    values[i] = kernels::to_float(kernels::E4m3{static_cast<std::uint8_t>(i)});
  return values;
}();

// kernels::to_float for four halves at once.
Floats4 halves_to_floats(Words4 halves) {
  constexpr std::int32_t rebias = 112 << 23, smallest_normal = 1 << 23, special = 31 << 23;
  const Words4 magnitude = (halves & 0x7fff) << 13;
  const Words4 normal = magnitude + rebias + ((magnitude >= special) & rebias);
  // A subnormal with the smallest normal's exponent exceeds the smallest normal by its value.
  const Floats4 subnormal = std::bit_cast<Floats4>(magnitude + (rebias + smallest_normal)) -
                            std::bit_cast<float>(rebias + smallest_normal);
  const Words4 below = magnitude < smallest_normal;
  return std::bit_cast<Floats4>((std::bit_cast<Words4>(subnormal) & below) | (normal & ~below) |
                                (halves & 0x8000) << 16);
}

// Element `position` of each of `count` words.
template <MatrixType type>
void elements(const std::uint32_t* words, unsigned count, unsigned position, float* out) {
  if constexpr (type == MatrixType::f16) {
    for (unsigned i = 0; i < count; i += 4) {
      Words4 four;
      std::memcpy(&four, words + i, 16);
      const Floats4 floats = halves_to_floats(position == 0 ? four & 0xffff : four >> 16 & 0xffff);
      std::memcpy(out + i, &floats, 16);
    }
  } else {
    for (unsigned i = 0; i < count; ++i)
      if constexpr (type == MatrixType::bf16)
        out[i] = std::bit_cast<float>(position == 0 ? words[i] << 16 : words[i] & 0xffff0000U);
      else
        out[i] = e4m3_values[words[i] >> (8 * position) & 0xffU];
  }
}

// The layouts of the PTX manual with group = lane / 4, quad = lane % 4: register r of A holds row
// group + 8 (r & 1), word quad + 4 (r >> 1); register r of B holds column group, word quad + 4 r;
// D holds rows group and group + 8, columns 2 quad and 2 quad + 1.
Operands gather(void* const* data) {
  Operands out;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const auto* regs = static_cast<const Registers*>(data[lane]);
    const unsigned group = lane / 4, quad = lane % 4;
    out.a[group][quad] = regs->a[0];
    out.a[group + 8][quad] = regs->a[1];
    out.a[group][quad + 4] = regs->a[2];
    out.a[group + 8][quad + 4] = regs->a[3];
    out.b[quad][group] = regs->b[0];
    out.b[quad + 4][group] = regs->b[1];
  }
  return out;
}

template <MatrixType type>
void multiply(void* const* data, std::uint32_t) {
  constexpr unsigned positions = elements_per_word(type);
  const Operands words = gather(data);
  alignas(16) float a[positions][16][8];
  alignas(16) Floats4 b[positions][8][2];
  for (unsigned p = 0; p < positions; ++p) {
    elements<type>(&words.a[0][0], 128, p, &a[p][0][0]);
    elements<type>(&words.b[0][0], 64, p, reinterpret_cast<float*>(&b[p][0][0]));
  }
  alignas(16) float d[16][8];
  for (unsigned row = 0; row < 16; ++row) {
    Floats4 low = {}, high = {};
    for (unsigned word = 0; word < 8; ++word)
      for (unsigned p = 0; p < positions; ++p) {
        low += a[p][row][word] * b[p][word][0];
        high += a[p][row][word] * b[p][word][1];
      }
    std::memcpy(&d[row][0], &low, 16);
    std::memcpy(&d[row][4], &high, 16);
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    float* out = static_cast<const Registers*>(data[lane])->d;
    const unsigned group = lane / 4, column = 2 * (lane % 4);
    out[0] += d[group][column];
    out[1] += d[group][column + 1];
    out[2] += d[group + 8][column];
    out[3] += d[group + 8][column + 1];
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

struct Moved {
  std::uint32_t value, result;
};

void transpose_registers(void* const* data, std::uint32_t) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::uint32_t out = 0;
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned row = 2 * (lane % 4) + i, column = lane / 4;
      const std::uint32_t word = static_cast<Moved*>(data[4 * row + column / 2])->value;
      out |= ((word >> (16 * (column % 2))) & 0xffffU) << (16 * i);
    }
    static_cast<Moved*>(data[lane])->result = out;
  }
}

}  // namespace

std::uint32_t movmatrix_trans(std::uint32_t value, Site site) {
  Moved moved{value, 0};
  static constexpr Collective transpose{"movmatrix", transpose_registers};
  rendezvous(full_warp, transpose, site, &moved);
  return moved.result;
}

void mma_16x8(MatrixType type, float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
              std::uint32_t b1, Site site) {
  Registers registers{d, a, {b0, b1}};
  static constexpr Collective products[] = {
      {"mma of bf16", multiply<MatrixType::bf16>},
      {"mma of f16", multiply<MatrixType::f16>},
      {"mma of e4m3", multiply<MatrixType::e4m3>},
  };
  rendezvous(full_warp, products[static_cast<unsigned>(type)], site, &registers);
}

void ldmatrix_x4(std::uint32_t (&r)[4], const void* row, Transpose transpose, Site site) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
    fail(std::string("ldmatrix of a row that is not aligned to 16 bytes at ") + site.file + ":" +
         std::to_string(site.line));
  current->runner->require_shared(row, 16, "ldmatrix", site);
  const sanitizers::Frame frame(__builtin_return_address(0));
  Rows rows{r, static_cast<const unsigned char*>(row), {}};
  static constexpr Collective loads[] = {{"ldmatrix", load_rows}, {"ldmatrix.trans", load_columns}};
  rendezvous(full_warp, loads[static_cast<unsigned>(transpose)], site, &rows);
  // A lane reads what it is handed, whoever named the row.
  if (!sanitizers::thread_sanitizer()) return;
  for (unsigned i = 0; i < 8; ++i)
    if (transpose == Transpose::yes)
      sanitizers::note_read2(rows.sources[i]);
    else if (i < 4)
      sanitizers::note_read4(rows.sources[i]);
}

}  // namespace kvsim::simt
