#include "cost/operators/gemm_tiles.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kvsim::cost {
namespace {

// What DeepGEMM reckons with on Hopper.
constexpr double l2_bytes_per_cycle = 6153, l1_bytes_per_sm_cycle = 128;
constexpr std::array<double, 10> hopper_widths{16, 32, 48, 64, 80, 96, 112, 128, 144, 160};

}  // namespace

Tile deepgemm_hopper(const Gemm& s, const Device& d) {
  std::array<double, 5> heights{64, 128};
  std::size_t count = 2;
  if (s.m <= 16) heights[count++] = 16;
  if (s.m <= 32) heights[count++] = 32;
  heights[count++] = 256;
  const double l2_rate = std::min(64 * d.sms, l2_bytes_per_cycle);
  const double l1_rate = l1_bytes_per_sm_cycle * d.sms;
  // One wave: tiles are not multicast. Else pairs of CTAs may share the larger or smaller side.
  double best = HUGE_VAL, best_shared = HUGE_VAL;
  Tile alone, shared;
  const auto consider = [&](double m, double n, double rows) {
    const double count_waves = round_up(rows * tiles(s.n, n) / d.sms);
    const double out = 2 * m * n;
    const bool uneven = n != 16 && n != 32 && n != 64 && n != 128 && n != 192;
    const double l1 = (s.k * (m + n + std::max(64.0, m) + n) + 2 * out) / l1_rate;
    const double cycles = count_waves * std::max(l1, (s.k * (m + n) + out) / l2_rate);
    if (cycles < best)
      best = cycles, alone = {m, n, m + n, std::max(64.0, m) * n, m * n >= 128 * 192, uneven};
    if (count_waves == 1) return;
    const double loaded = std::min(m / 2 + n, m + n / 2);
    const double halved = count_waves * std::max(l1, (s.k * loaded + out) / l2_rate);
    if (halved < best_shared)
      best_shared = halved, shared = {m, n, loaded, std::max(64.0, m) * n, false, uneven};
  };
  for (std::size_t i = 0; i < count; ++i) {
    const double m = heights[i], rows = tiles(s.m, m);
    for (const double n : hopper_widths) {
      if (m > 128 && n > 128) break;
      consider(m, n, rows);
    }
    if (m <= 128) consider(m, 192, rows);
  }
  constexpr double tie = 1e-9;  // between equals the tile without multicast comes first
  return best_shared < best * (1 - tie) ? shared : alone;
}

Tile deepgemm_blackwell(const Gemm& s, const Device& d) {
  Tile chosen;
  bool chosen_shared = false, any = false;
  double waves_best = 0, used_best = 0;
  const auto consider = [&](double m, double n, bool shared) {
    const double work = tiles(s.m, m) * tiles(s.n, n), w = round_up(work / d.sms);
    const double used = work - (w - 1) * d.sms;
    const auto better = [&] {
      if (!any) return true;
      if ((w == 1) != (waves_best == 1)) return w == 1;
      if (shared != chosen_shared) return shared;
      if (w != waves_best) return w < waves_best;
      if (used != used_best) return used > used_best;
      if (m + n != chosen.m + chosen.n) return m + n < chosen.m + chosen.n;
      return m * n < chosen.m * chosen.n;
    };
    if (!better()) return;
    any = true, chosen_shared = shared, waves_best = w, used_best = used;
    chosen = tile(m, n);
  };
  const double height = s.m <= 32 ? 32 : s.m <= 64 ? 64 : 128;
  const double widest = s.k <= 256 ? 128 : 256;
  const bool even_rows = std::fmod(tiles(s.m, height), 2) == 0;
  const bool even_columns = std::fmod(tiles(s.n, 128), 2) == 0;
  for (double n = 16; n <= widest; n += n < 32 ? 16 : 32) {
    consider(height, n, false);
    if (even_rows) consider(height, n, true);
  }
  for (double m = 16; m <= 256; m += 16) {
    consider(m, 128, false);
    if (even_columns) consider(m, 128, true);
  }
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
