#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "kernels/numbers/noise.h"
#include "kernels/simt/planted/tensor.cuh"

using namespace kvsim::kernels;

namespace {

// The fragments as the PTX manual writes them, element i of a lane's registers in order, inverted
// by search. groupID = lane / 4, threadID_in_group = lane % 4.
struct Layout {
  unsigned bits, depth;  // of an element; of the product
  unsigned per_word() const { return 32 / bits; }

  void element_of_a(unsigned lane, unsigned i, unsigned& row, unsigned& column) const {
    const unsigned group = lane / 4, in_group = lane % 4;
    if (bits == 16) {
      row = i < 2 || (4 <= i && i < 6) ? group : group + 8;
      column = in_group * 2 + (i & 1U) + (i >= 4 ? 8 : 0);
    } else {
      row = i < 4 || (8 <= i && i < 12) ? group : group + 8;
      column = in_group * 4 + (i & 3U) + (i >= 8 ? 16 : 0);
    }
  }
  void element_of_b(unsigned lane, unsigned i, unsigned& row, unsigned& column) const {
    const unsigned group = lane / 4, in_group = lane % 4;
    column = group;
    row = bits == 16 ? in_group * 2 + (i & 1U) + (i >= 2 ? 8 : 0)
                     : in_group * 4 + (i & 3U) + (i >= 4 ? 16 : 0);
  }
};

struct Format {
  Layout layout;
  std::uint32_t (*encode)(float);
  float (*decode)(std::uint32_t);
  void (*kernel)(LabArgs);
};

// Fills registers from matrices, runs the kernel, and returns the worst relative error against the
// product in double.
double worst_error(const Format& format, std::uint64_t seed) {
  const Layout& layout = format.layout;
  std::vector<double> a(16 * layout.depth), b(layout.depth * 8);
  std::vector<std::uint32_t> words(192 + 128, 0);
  const auto fill = [&](unsigned lane, unsigned word, unsigned i, double& element, float value) {
    const std::uint32_t code = format.encode(value);
    element = static_cast<double>(format.decode(code));
    words[6 * lane + word] |= code << (layout.bits * (i % layout.per_word()));
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned row = 0, column = 0;
    for (unsigned i = 0; i < 4 * layout.per_word(); ++i) {
      layout.element_of_a(lane, i, row, column);
      const unsigned at = row * layout.depth + column;
      fill(lane, i / layout.per_word(), i, a[at], noise_normal(seed, at));
    }
    for (unsigned i = 0; i < 2 * layout.per_word(); ++i) {
      layout.element_of_b(lane, i, row, column);
      const unsigned at = row * 8 + column;
      fill(lane, 4 + i / layout.per_word(), i, b[at], noise_normal(seed + 1, at));
    }
    for (unsigned i = 0; i < 4; ++i)
      words[192 + 4 * lane + i] =
          std::bit_cast<std::uint32_t>(noise_normal(seed + 2, 4 * lane + i));
  }
  std::vector<float> inputs;
  for (const std::uint32_t word : words) inputs.push_back(std::bit_cast<float>(word));
  Lab lab({.schedule_seed = seed}, inputs);
  REQUIRE(lab.run(format.kernel, {}).empty());
  const auto out = lab.out();
  double worst = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = i < 2 ? lane / 4 : lane / 4 + 8, column = lane % 4 * 2 + (i & 1U);
      double want = static_cast<double>(noise_normal(seed + 2, 4 * lane + i)), scale = 1;
      for (unsigned k = 0; k < layout.depth; ++k) {
        want += a[row * layout.depth + k] * b[k * 8 + column];
        scale += std::abs(a[row * layout.depth + k] * b[k * 8 + column]);
      }
      worst = std::max(worst, std::abs(static_cast<double>(out[4 * lane + i]) - want) / scale);
    }
  return worst;
}

const Format formats[] = {
    {{16, 16},
     [](float x) { return std::uint32_t{to_bf16(x).bits}; },
     [](std::uint32_t c) { return to_float(Bf16{static_cast<std::uint16_t>(c)}); },
     cpu::products<cpu::Product::bf16>},
    {{16, 16},
     [](float x) { return std::uint32_t{to_f16(x).bits}; },
     [](std::uint32_t c) { return to_float(F16{static_cast<std::uint16_t>(c)}); },
     cpu::products<cpu::Product::f16>},
    {{8, 32},
     [](float x) { return std::uint32_t{to_e4m3(x).bits}; },
     [](std::uint32_t c) { return to_float(E4m3{static_cast<std::uint8_t>(c)}); },
     cpu::products<cpu::Product::e4m3>},
};

}  // namespace

TEST_SUITE("quick") {
  TEST_CASE("tensor core products equal the matrix product in every format") {
    for (const Format& format : formats)
      for (const std::uint64_t seed : {1U, 2U, 3U}) CHECK(worst_error(format, seed) < 1e-6);
  }

  TEST_CASE(
      "ldmatrix and movmatrix hand each lane the words of its row or the elements of its column") {
    for (const int transposed : {0, 1, 2}) {  // 2: movmatrix of what was loaded plainly
      Lab lab({.schedule_seed = 5});
      REQUIRE(lab.run(cpu::matrix_loads, {.shared_bytes = 512, .choice = transposed}).empty());
      const auto out = lab.out();
      // Element [row][column] of matrix m, where lane 8 m + row named the row.
      const auto element = [](unsigned m, unsigned row, unsigned column) {
        return 8 * ((7 * (8 * m + row) + 3) % 32) + column;
      };
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned m = 0; m < 4; ++m) {
          const unsigned r = lane / 4, c = 2 * (lane % 4);
          const unsigned low = transposed == 0 ? element(m, r, c) : element(m, c, r);
          const unsigned high = transposed == 0 ? element(m, r, c + 1) : element(m, c + 1, r);
          CHECK(std::bit_cast<std::uint32_t>(out[4 * lane + m]) == (low | high << 16));
        }
    }
  }

  TEST_CASE("bulk copies through a ring of mbarriers arrive in order and in time") {
    for (const std::uint64_t seed : {0U, 1U, 2U, 3U})
      for (const int announced_late : {0, 1}) {
        Lab lab({.schedule_seed = seed});
        REQUIRE(lab.run(cpu::bulk_pipeline,
                        {.threads = 96, .shared_bytes = 1024, .choice = announced_late})
                    .empty());
        const auto out = lab.out();
        for (unsigned i = 0; i < 64; ++i) {
          double want = 0;
          for (unsigned t = 0; t < cpu::ring_tiles; ++t) want = 2 * want + 64 * t + i + 1;
          CHECK(static_cast<double>(out[i]) == want);
        }
      }
  }

  TEST_CASE("a ring of cp async groups delivers every tile and zeros past the end") {
    for (const std::uint64_t seed : {0U, 1U, 2U, 3U}) {
      Lab lab({.schedule_seed = seed});
      REQUIRE(lab.run(cpu::copy_ring, {.threads = 64, .shared_bytes = 3072}).empty());
      const auto out = lab.out();
      for (unsigned i = 0; i < 64; ++i) {
        double want = 0;
        for (unsigned t = 0; t < cpu::ring_tiles; ++t)
          want = 2 * want + 128 * t + 4 * ((i + 1) % 32) + 2;
        CHECK(static_cast<double>(out[i]) == want);
      }
    }
  }
}
