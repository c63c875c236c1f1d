#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"
#include "cost/operators/gemm_tiles.h"

// y[m, n] = x[m, k] w[n, k]^T with b bytes per weight, in steps of 128 bytes along k:
//   step  = max(ts, 2 tm tn (128 / b) / F_sm + loaded 128 / (1000 bs))
//   w     = tiles splits / SMs, wv = max(1, (1 - qz) w + qz ceil(w))
//   chain = wv (ceil(steps / splits) step + tcta) + (splits > 1 ? tsk + 4 splits m n / bsk : 0)
//   mem   = (weights miss_w + (x + y) miss_a) / bw + tmem
//   t     = t0 + pnorm(chain, mem; pn) (odd) (m1) + quantisation of x
// F_sm falls with the flops of the call (power). Tiles are the best of a list or a library's rule.
namespace kvsim::cost {
namespace {

constexpr std::array<Tile, 7> usual{{tile(64, 64), tile(64, 128), tile(64, 256), tile(128, 64),
                                     tile(128, 128), tile(128, 256), tile(256, 128)}};
constexpr std::array<Tile, 9> narrow{{tile(64, 64), tile(64, 128), tile(128, 32), tile(128, 64),
                                      tile(128, 96), tile(128, 112), tile(128, 128), tile(128, 160),
                                      tile(256, 128)}};
constexpr std::array<Tile, 8> wide{{tile(64, 64), tile(64, 128), tile(64, 256), tile(128, 64),
                                    tile(128, 128), tile(128, 256), tile(256, 128),
                                    tile(256, 256)}};

// Forms share the first parameters; those of split-K or of the quantisation follow.
enum Common : std::size_t {
  t0,
  F,
  pt,
  flh,
  bw,
  tmem,
  bs,
  tcta,
  ts,
  qz,
  pn,
  cl2,
  ql2,
  cla,
  odd,
  m1,
  common_count
};
enum Split : std::size_t { tsk = common_count, bsk, split_count };
enum Quant : std::size_t { tq = common_count, bq, bqh, clq, rq, oddq, quant_count };
enum Hopper : std::size_t { un = quant_count, cr, hopper_count };

constexpr std::array<Parameter, common_count> common{{
    {"t0", 1.5, 0.3, 50},                          // launch
    {"F", 1000, 50, 12000, Scaling::matrix_rate},  // TFLOP/s with all SMs at work
    {"pt", 0.15, 0.001, 0.5},                      // share of it that long calls lose,
    {"flh", 0.5, 0.02, 50},                        // half of that at so many TFLOP
    {"bw", 2900, 300, 9000, Scaling::bandwidth},
    {"tmem", 1.5, 0.01, 10},   // latency of the first bytes
    {"bs", 400, 50, 3000},     // GB/s of operands into one SM
    {"tcta", 1.5, 0.05, 10},   // prologue and epilogue of a tile
    {"ts", 0.05, 0.001, 0.5},  // least time of a step
    {"qz", 0.5, 0.01, 1},      // 1: whole waves, 0: work is shared evenly
    {"pn", 2.5, 1, 8},
    {"cl2", 0.6, 0.05, 2},  // replayed weights: part of L2 they stay in
    {"ql2", 8, 1, 40},
    {"cla", 0.5, 0.1, 20},  // the same of inputs and outputs
    {"odd", 1.05, 0.8, 2},  // factor of a benchmark's odd m
    {"m1", 1.02, 0.5, 4},   // and of its m = 1
}};
constexpr std::array<Parameter, 2> split{{
    {"tsk", 2, 0.05, 10},       // the pass that adds up
    {"bsk", 2000, 100, 50000},  // GB/s of partial sums
}};
constexpr std::array<Parameter, 6> quant{{
    {"tq", 1, 0.1, 10},
    {"bq", 2000, 100, 20000, Scaling::bandwidth},
    {"bqh", 5000, 200, 40000, Scaling::bandwidth},
    {"clq", 0.8, 0.1, 3},
    {"rq", 1, 0.001, 20},  // ns of a row: one CTA each
    {"oddq", 1.1, 0.9, 2},
}};
constexpr std::array<Parameter, 2> hopper{{
    {"un", 1.1, 1, 2},  // factor of a tile with two scales
    {"cr", 2, 1, 5},    // and of one that spills registers
}};

template <std::size_t A, std::size_t B>
constexpr std::array<Parameter, A + B> joined(const std::array<Parameter, A>& a,
                                              const std::array<Parameter, B>& b) {
  std::array<Parameter, A + B> out{};
  std::copy(a.begin(), a.end(), out.begin());
  std::copy(b.begin(), b.end(), out.begin() + A);
  return out;
}
constexpr auto plain_parameters = joined(common, split);
constexpr auto quantised_parameters = joined(common, quant);
constexpr auto hopper_parameters = joined(quantised_parameters, hopper);

// The time of tiles of one call, without memory.
struct Chain {
  const Gemm& s;
  const Device& d;
  std::span<const double> p;
  double steps = 0, flop_us = 0, byte_us = 0;
  static constexpr std::size_t max_splits = 5;  // 1, 2, 4, 8, 16
  std::array<double, max_splits> split_steps{}, split_us{};

  Chain(const Gemm& shape, const Device& device, std::span<const double> parameters)
      : s(shape), d(device), p(parameters) {
    const double b = s.format.weight_bytes;
    const double tera = 2 * s.m * s.n * s.k * 1e-12;
    const double rate = p[F] * (1 - p[pt] * tera / (tera + p[flh])) * 1e6 / d.sms;
    steps = round_up(s.k * b / 128);
    flop_us = 2 * (128 / b) / rate, byte_us = 128 / (1000 * p[bs]);
  }
  void allow_splits() {
    for (std::size_t i = 0; i < max_splits; ++i) {
      const double splits = static_cast<double>(std::size_t{1} << i);
      split_steps[i] = round_up(steps / splits);
      split_us[i] = i ? p[tsk] + 4 * splits * s.m * s.n / (1000 * p[bsk]) : 0;
    }
  }
  double step(const Tile& t) const {
    return std::max(p[ts], t.m * t.n * flop_us + t.loaded * byte_us);
  }
  double waves_of(double work) const {
    return std::max(1.0, (1 - p[qz]) * work + p[qz] * round_up(work));
  }
  double work(const Tile& t) const { return tiles(s.m, t.m) * tiles(s.n, t.n) / d.sms; }
  double us(const Tile& t, double factor = 1) const {
    return waves_of(work(t)) * (steps * factor * step(t) + p[tcta]);
  }
  double best_split_us(const Tile& t) const {
    double w = work(t), best = HUGE_VAL;
    const double one = step(t);
    for (std::size_t i = 0; i < max_splits; ++i, w *= 2)
      best = std::min(best, waves_of(w) * (split_steps[i] * one + p[tcta]) + split_us[i]);
    return best;
  }
};

// Benchmarks go round so many copies of the weights that they fill the L2 cache, at most six.
double replayed_mb(double weights_mb, const Device& d) {
  constexpr double mebi = 1.048576, most = 6;
  return weights_mb * std::min(most, std::max(1.0, round_up(d.l2_mb * mebi / weights_mb)));
}
double mem_us(const Gemm& s, const Device& d, std::span<const double> p, Buffers buffers) {
  const double w = s.n * s.k * s.format.weight_bytes * 1e-6;
  const double a = (s.m * s.k * s.format.activation_bytes + 2 * s.m * s.n) * 1e-6;
  return (w * missed(replayed_mb(w, d), d.l2_mb, p[cl2], p[ql2], buffers) +
          a * missed(w + a, d.l2_mb, p[cla], 4, buffers)) *
             1000 / p[bw] +
         p[tmem];
}

// Odd m and m = 1 take other kernels in benchmarks. A step's m is a mean, and engines pad small
// batches to their graphs' sizes.
bool odd_rows(const Gemm& s, Buffers buffers) {
  return buffers == Buffers::replayed && s.m > 128 && std::fmod(s.m, 2) == 1;
}
double product_us(const Gemm& s, const Device& d, std::span<const double> p, Buffers buffers,
                  double chain) {
  double t = pnorm(chain, mem_us(s, d, p, buffers), p[pn]);
  if (odd_rows(s, buffers)) t *= p[odd];
  if (buffers == Buffers::replayed && s.m == 1) t *= p[m1];
  return p[t0] + t;
}
// The kernel that quantises x was handed it by the one before: in the L2 cache if it fits.
double quant_us(const Gemm& s, const Device& d, std::span<const double> p, Buffers buffers) {
  const double mb = 3e-6 * s.m * s.k;
  const double cold = missed(mb, d.l2_mb, p[clq], 6, Buffers::replayed);
  const double bytes = mb * 1000 * (cold / p[bq] + (1 - cold) / p[bqh]);
  const double t = std::max(p[tq], bytes + p[rq] * s.m / 1000);
  return odd_rows(s, buffers) ? t * p[oddq] : t;
}

template <const auto& list>
double best_split_us(const Shape& shape, const Device& d, std::span<const double> p,
                     Buffers buffers) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  Chain chain(s, d, p);
  chain.allow_splits();
  double least = HUGE_VAL;
  for (const Tile& t : list) least = std::min(least, chain.best_split_us(t));
  return product_us(s, d, p, buffers, least);
}
template <const auto& list>
double best_us(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  const Chain chain(s, d, p);
  double least = HUGE_VAL;
  for (const Tile& t : list) least = std::min(least, chain.us(t));
  return product_us(s, d, p, buffers, least) + quant_us(s, d, p, buffers);
}
using Rule = Tile (*)(const Gemm&, const Device&);
template <Rule rule>
double rule_us(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  const double least = Chain(s, d, p).us(rule(s, d));
  return product_us(s, d, p, buffers, least) + quant_us(s, d, p, buffers);
}
double deepgemm_hopper_us(const Shape& shape, const Device& d, std::span<const double> p,
                          Buffers buffers) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  const Tile t = deepgemm_hopper(s, d);
  const double factor = t.crowded ? p[cr] : t.uneven ? p[un] : 1;
  const double least = Chain(s, d, p).us(t, factor);
  return product_us(s, d, p, buffers, least) + quant_us(s, d, p, buffers);
}

bool plain(const Shape& shape) {
  const Gemm* s = std::get_if<Gemm>(&shape);
  return s && !s->format.quantises_activations;
}
bool quantised(const Shape& shape) {
  const Gemm* s = std::get_if<Gemm>(&shape);
  return s && s->format.quantises_activations;
}
bool fp4(const Shape& shape) {
  return quantised(shape) && std::get_if<Gemm>(&shape)->format.operands == spec::DType::fp4;
}
bool whole_fp8(const Shape& shape) {  // one scale for all of a matrix
  return quantised(shape) && std::get_if<Gemm>(&shape)->format.operands == spec::DType::fp8 &&
         std::get_if<Gemm>(&shape)->format.weight_bytes == 1;
}
bool block_fp8(const Shape& shape) {
  return quantised(shape) && std::get_if<Gemm>(&shape)->format.operands == spec::DType::fp8 &&
         std::get_if<Gemm>(&shape)->format.weight_bytes > 1;
}

constexpr std::array<std::string_view, 3> names{"log2_m", "log2_n", "log2_k"};
Features features(const Shape& shape) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  return {std::log2(s.m), std::log2(s.n), std::log2(s.k)};
}

using Time = double (*)(const Shape&, const Device&, std::span<const double>, Buffers);
constexpr Form plain_form(std::string_view kernel, std::string_view name, std::string_view summary,
                          Time time) {
  return {kernel, name, summary, plain, plain_parameters, time, features, names};
}
constexpr Form quantised_form(std::string_view name, std::string_view summary, Time time,
                              bool (*applies)(const Shape&) = quantised) {
  return {"gemm", name, summary, applies, quantised_parameters, time, features, names};
}

constexpr std::array<Form, 15> table{{
    plain_form("gemm", "best_tile_split", "the fastest tile, k split up to 16 times",
               best_split_us<usual>),
    plain_form("gemm", "best_narrow_tile_split", "the same with tiles of 32 to 160 columns",
               best_split_us<narrow>),
    quantised_form("best_tile", "the fastest tile of 64 to 256 rows and columns", best_us<usual>),
    quantised_form("best_wide_tile", "the same up to 256 x 256", best_us<wide>),
    quantised_form("tile_128x128", "tiles of 128 x 128", rule_us<fixed_128x128>),
    quantised_form("tile_32x128", "tiles of 32 x 128 (TensorRT-LLM on Ada)", rule_us<fixed_32x128>,
                   block_fp8),
    {"gemm", "deepgemm_hopper", "DeepGEMM's choice by expected cycles", block_fp8,
     hopper_parameters, deepgemm_hopper_us, features, names},
    quantised_form("deepgemm_blackwell", "DeepGEMM's choice by waves", rule_us<deepgemm_blackwell>,
                   block_fp8),
    quantised_form("cutlass_ada", "vLLM's tiles by m and n on sm89", rule_us<cutlass_ada_fp8>,
                   whole_fp8),
    quantised_form("cutlass_hopper", "vLLM's tiles by m on sm90", rule_us<cutlass_hopper_fp8>,
                   whole_fp8),
    quantised_form("cutlass_hopper_swapped", "the same with swapped operands at small m",
                   rule_us<cutlass_hopper_fp8_swapped>, whole_fp8),
    quantised_form("cutlass_blackwell", "vLLM's tiles by m on sm100",
                   rule_us<cutlass_blackwell_fp8>, whole_fp8),
    quantised_form("cutlass_rtx", "vLLM's tiles by m on sm120", rule_us<cutlass_rtx_fp8>,
                   whole_fp8),
    quantised_form("cutlass_rtx_fp4", "vLLM's fp4 tiles by m on sm120", rule_us<cutlass_rtx_fp4>,
                   fp4),
    plain_form("vidur_layer_ops", "best_tile_split", "the fastest tile, k split up to 16 times",
               best_split_us<usual>),
}};

}  // namespace

std::span<const Form> gemm_forms() { return table; }

}  // namespace kvsim::cost
