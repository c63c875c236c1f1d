#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "cost/operators/form.h"
#include "cost/operators/gemm_tiles.h"

// y[m, n] = x[m, k] w[n, k]^T with b bytes per weight, in steps of 128 bytes along k:
//   step  = max(ts, 2 tm tn (128 / b) / F_sm + loaded 128 / (1000 bs))
//   w     = tiles splits / SMs, wv = max(1, (1 - qz) w + qz ceil(w))
//   chain = wv (ceil(steps / splits) step + tcta + 2 tm tn / be)
//           + (splits > 1 ? tsk + 4 splits m n / bsk : 0)
//   mem   = (weights miss_w + (x + y) miss_a) / bw + tmem
//   t     = t0 + pnorm(chain, mem; pn) (odd) (m1) + quantisation of x
// F_sm falls with the flops of the call (power). Tiles are the best of a list or a library's rule.
// Shapes are in elements, times in microseconds.
namespace kvsim::cost::gemm {

// Forms share the first parameters; those of split-K or of the quantisation follow.
// clang-format off
enum Common : std::size_t {
  t0, F, pt, flh, bw, tmem, bs, tcta, be, ts, qz, pn, cl2, ql2, cla, odd, m1, common_count
};
// clang-format on
enum Split : std::size_t { tsk = common_count, bsk, split_count };
enum Quant : std::size_t { bq = common_count, bqh, clq, tr, rk, occ, oddq, quant_count };
enum Groups : std::size_t { tg = common_count + 3, groups_count };
enum Hopper : std::size_t { un = groups_count, cr, w1, hopper_count };

extern const std::span<const Parameter> plain_parameters;      // common and split-K
extern const std::span<const Parameter> quantised_parameters;  // common and rows quantised
extern const std::span<const Parameter> groups_parameters;     // common and groups quantised
extern const std::span<const Parameter> hopper_parameters;     // and factors of DeepGEMM's tiles

// The time of tiles of one call, without memory.
struct Chain {
  const Gemm& s;
  const Device& d;
  std::span<const double> p;
  double steps = 0, flop_us = 0, byte_us = 0, out_us = 0;
  static constexpr std::size_t max_splits = 5;  // 1, 2, 4, 8, 16
  std::array<double, max_splits> split_steps{}, split_us{};

  Chain(const Gemm& shape, const Device& device, std::span<const double> parameters)
      : s(shape), d(device), p(parameters) {
    const double b = s.format.weight_bytes;
    const double tera = 2 * s.m * s.n * s.k * 1e-12;
    const double rate = p[F] * (1 - p[pt] * tera / (tera + p[flh])) * 1e6 / d.sms;
    steps = round_up(s.k * b / 128);
    flop_us = 2 * (128 / b) / rate, byte_us = 128 / (1000 * p[bs]);
    out_us = 2 / (1000 * p[be]);
  }
  void allow_splits() {
    for (std::size_t i = 0; i < max_splits; ++i) {
      const double splits = static_cast<double>(std::size_t{1} << i);
      split_steps[i] = round_up(steps / splits);
      split_us[i] = i ? p[tsk] + 4 * splits * s.m * s.n / (1000 * p[bsk]) : 0;
    }
  }
  double step(const Tile& t) const {
    return std::max(p[ts], t.computed * flop_us + t.loaded * byte_us);
  }
  double waves_of(double work) const {
    return std::max(1.0, (1 - p[qz]) * work + p[qz] * round_up(work));
  }
  double work(const Tile& t) const { return tiles(s.m, t.m) * tiles(s.n, t.n) / d.sms; }
  double us(const Tile& t, double factor = 1) const {
    return waves_of(work(t)) * (steps * factor * step(t) + p[tcta] + t.m * t.n * out_us);
  }
  double best_split_us(const Tile& t) const {
    double w = work(t), best = HUGE_VAL;
    const double one = step(t), ends = p[tcta] + t.m * t.n * out_us;
    for (std::size_t i = 0; i < max_splits; ++i, w *= 2)
      best = std::min(best, waves_of(w) * (split_steps[i] * one + ends) + split_us[i]);
    return best;
  }
};

// The product once its tiles take `chain`.
double product_us(const Gemm& s, const Device& d, std::span<const double> p, Buffers buffers,
                  double chain);
// The kernel that quantises x before, one CTA for each row.
double quant_us(const Gemm& s, const Device& d, std::span<const double> p, Buffers buffers);
// The same, one CTA for as many groups of 128, a power of two up to 16, as divide those of x.
double quant_groups_us(const Gemm& s, const Device& d, std::span<const double> p, Buffers buffers);

}  // namespace kvsim::cost::gemm
