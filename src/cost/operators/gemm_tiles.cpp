#include "cost/operators/gemm_tiles.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kvsim::cost {
namespace {

// What DeepGEMM reckons with on Hopper.
constexpr double l2_bytes_per_cycle = 6153, l1_bytes_per_sm_cycle = 128;
constexpr std::array<double, 11> hopper_widths{16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 192};
constexpr double tie = 1e-12;  // costs that differ by less are equal, and the first stays

}  // namespace

Tile deepgemm_hopper(const Gemm& s, const Device& d) {
  std::array<double, 5> heights{64, 128};
  std::size_t count = 2;
  if (s.m <= 16) heights[count++] = 16;
  if (s.m <= 32) heights[count++] = 32;
  heights[count++] = 256;
  std::array<double, hopper_widths.size()> columns;
  for (std::size_t j = 0; j < columns.size(); ++j) columns[j] = tiles(s.n, hopper_widths[j]);
  const double l2_us = 1 / std::min(64 * d.sms, l2_bytes_per_cycle);
  const double l1_us = 1 / (l1_bytes_per_sm_cycle * d.sms);
  // One wave: tiles are not multicast. Else pairs of CTAs may share the larger or smaller side.
  double best = HUGE_VAL, best_shared = HUGE_VAL;
  Tile alone, shared;
  const auto consider = [&](double m, double n, double count_waves) {
    const double out = 2 * m * n;
    const bool uneven = n != 16 && n != 32 && n != 64 && n != 128 && n != 192;
    const double computed = std::max(64.0, m) * n;
    const double l1 = (s.k * (m + n + std::max(64.0, m) + n) + 2 * out) * l1_us;
    const double cycles = count_waves * std::max(l1, (s.k * (m + n) + out) * l2_us);
    if (cycles < best * (1 - tie))
      best = cycles, alone = {m, n, m + n, computed, m * n >= 128 * 192, uneven};
    if (count_waves == 1) return;
    const double loaded = std::min(m / 2 + n, m + n / 2);
    const double halved = count_waves * std::max(l1, (s.k * loaded + out) * l2_us);
    if (halved < best_shared * (1 - tie))
      best_shared = halved, shared = {m, n, loaded, computed, false, uneven};
  };
  for (std::size_t i = 0; i < count; ++i) {
    const double m = heights[i], rows = tiles(s.m, m);
    for (std::size_t j = 0; j < columns.size() && (m <= 128 || hopper_widths[j] <= 128); ++j)
      consider(m, hopper_widths[j], round_up(rows * columns[j] / d.sms));
  }
  return best_shared < best * (1 - tie) ? shared : alone;
}

Tile deepgemm_blackwell(const Gemm& s, const Device& d) {
  Tile chosen;
  bool chosen_shared = false;
  double chosen_waves = 0, chosen_used = 0;
  // Whether pairs of CTAs can share depends on one side only; where they can, they do.
  const auto consider = [&](double m, double n, double work, bool shared) {
    const double w = round_up(work / d.sms), used = work - (w - 1) * d.sms;
    const auto better = [&] {
      if (chosen_waves == 0) return true;
      if ((w == 1) != (chosen_waves == 1)) return w == 1;
      if (shared != chosen_shared) return shared;
      if (w != chosen_waves) return w < chosen_waves;
      if (used != chosen_used) return used > chosen_used;
      if (m + n != chosen.m + chosen.n) return m + n < chosen.m + chosen.n;
      return m * n < chosen.m * chosen.n;
    };
    if (!better()) return;
    chosen_shared = shared, chosen_waves = w, chosen_used = used;
    chosen = tile(m, n);
  };
  const double height = s.m <= 32 ? 32 : s.m <= 64 ? 64 : 128;
  const double widest = s.k <= 256 ? 128 : 256;
  const double rows = tiles(s.m, height), columns = tiles(s.n, 128);
  const bool even_rows = std::fmod(rows, 2) == 0, even_columns = std::fmod(columns, 2) == 0;
  for (double n = 16; n <= widest; n += n < 32 ? 16 : 32)
    consider(height, n, rows * tiles(s.n, n), even_rows);
  for (double m = 16; m <= 256; m += 16) consider(m, 128, tiles(s.m, m) * columns, even_columns);
  if (chosen_shared) chosen.loaded = std::min(chosen.m / 2 + chosen.n, chosen.m + chosen.n / 2);
  return chosen;
}

Tile cutlass_ada_fp8(const Gemm& s, const Device&) {
  if (s.m <= 16) return s.n <= 8192 ? tile(16, 64) : s.n <= 16384 ? tile(16, 128) : tile(32, 64);
  const bool middle = s.n > 8192 && s.n <= 16384;
  if (s.m <= 32) return middle ? tile(32, 128) : tile(32, 64);
  if (s.m <= 64) return middle ? tile(64, 128) : tile(64, 64);
  if (s.m <= 128) return s.n <= 8192 ? tile(64, 128) : middle ? tile(128, 128) : tile(128, 64);
  if (s.m <= 256) return s.n <= 4096 ? tile(64, 128) : tile(128, 128);
  return s.n > 4096 && s.n <= 8192 ? tile(256, 128) : tile(128, 128);
}

Tile cutlass_hopper_fp8(const Gemm& s, const Device&) {
  return s.m <= 64 ? tile(64, 64) : s.m <= 128 ? tile(64, 128) : tile(128, 128);
}

Tile cutlass_hopper_fp8_swapped(const Gemm& s, const Device&) {
  if (s.m <= 16 || (s.m <= 64 && s.n <= 1280)) return tile(16, 64);
  if (s.m <= 128) return s.m <= 64 ? tile(64, 64) : tile(64, 128);
  return s.m >= 8192 && s.k >= 6144 ? tile(256, 128) : tile(128, 128);
}

Tile cutlass_blackwell_fp8(const Gemm& s, const Device&) {
  if (s.m <= 16) return tile(32, 128);
  if (s.m <= 64) return s.m == 64 && s.k < 4096 ? tile(64, 64) : tile(64, 128);
  return s.m <= 256 ? tile(128, 128) : tile(256, 128);
}

Tile cutlass_rtx_fp8(const Gemm& s, const Device&) {
  return s.m <= 16    ? tile(16, 64)
         : s.m <= 32  ? tile(32, 64)
         : s.m <= 256 ? tile(64, 64)
                      : tile(128, 128);
}

Tile cutlass_rtx_fp4(const Gemm& s, const Device&) {
  return s.m <= 256 ? tile(128, 128) : tile(256, 128);
}

Tile fixed_32x128(const Gemm&, const Device&) { return tile(32, 128); }
Tile fixed_128x128(const Gemm&, const Device&) { return tile(128, 128); }

}  // namespace kvsim::cost
