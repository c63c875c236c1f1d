#include "cost/operators/gemm_time.h"

#include <algorithm>
#include <cmath>

namespace kvsim::cost::gemm {
namespace {

constexpr std::array<Parameter, common_count> common{{
    {"t0", 1.5, 0.3, 50},                          // launch
    {"F", 1000, 50, 12000, Scaling::matrix_rate},  // TFLOP/s with all SMs at work
    {"pt", 0.15, 0.001, 0.5},                      // share of it that long calls lose,
    {"flh", 0.5, 0.02, 50},                        // half of that at so many TFLOP
    {"bw", 2900, 300, 9000, Scaling::bandwidth},
    {"tmem", 1.5, 0.01, 10},   // latency of the first bytes
    {"bs", 400, 50, 3000},     // GB/s of operands into one SM
    {"tcta", 1.5, 0.05, 10},   // prologue and epilogue of a tile
    {"be", 60, 2, 2000},       // GB/s of results out of one SM
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
constexpr std::array<Parameter, 3> quant_bytes{{
    {"bq", 2000, 100, 20000, Scaling::bandwidth},   // quantising x from memory
    {"bqh", 5000, 200, 40000, Scaling::bandwidth},  // and from the L2 cache,
    {"clq", 0.8, 0.1, 3},                           // this part of which holds x
}};
constexpr std::array<Parameter, 4> quant_rows{{
    {"tr", 0.3, 0.001, 20},   // us of a row
    {"rk", 0.08, 0.0001, 5},  // and of 1000 of its elements
    {"occ", 2, 0.25, 64},     // rows of an SM at a time
    {"oddq", 1.1, 0.9, 2},    // factor of a benchmark's odd m
}};
constexpr std::array<Parameter, 1> quant_groups{{
    {"tg", 0.7, 0.001, 20},  // ns of a CTA
}};
constexpr std::array<Parameter, 3> hopper{{
    {"un", 1.1, 1, 2},    // factor of a tile with two scales
    {"cr", 2, 1, 5},      // and of one that spills registers
    {"w1", 1.1, 0.7, 3},  // and of one of a single warp group
}};

template <std::size_t A, std::size_t B>
constexpr std::array<Parameter, A + B> joined(const std::array<Parameter, A>& a,
                                              const std::array<Parameter, B>& b) {
  std::array<Parameter, A + B> out{};
  std::copy(a.begin(), a.end(), out.begin());
  std::copy(b.begin(), b.end(), out.begin() + A);
  return out;
}
constexpr auto for_plain = joined(common, split);
constexpr auto for_rows = joined(joined(common, quant_bytes), quant_rows);
constexpr auto for_groups = joined(joined(common, quant_bytes), quant_groups);
constexpr auto for_hopper = joined(for_groups, hopper);

}  // namespace

constinit const std::span<const Parameter> plain_parameters = for_plain,
                                           quantised_parameters = for_rows,
                                           groups_parameters = for_groups,
                                           hopper_parameters = for_hopper;

namespace {

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
             1000 / bytes_rate(p[bw], d, buffers) +
         p[tmem];
}

// Odd m and m = 1 take other kernels in benchmarks. A step's m is a mean, and engines pad small
// batches to their graphs' sizes.
bool odd_rows(const Gemm& s, Buffers buffers) {
  return buffers == Buffers::replayed && s.m > 128 && std::fmod(s.m, 2) == 1;
}
// The kernel that quantises x was handed it by the one before: in the L2 cache if it fits.
double quant_bytes_us(const Gemm& s, const Device& d, std::span<const double> p) {
  const double mb = 3e-6 * s.m * s.k;
  const double cold = missed(mb, d.l2_mb, p[clq], 6, Buffers::replayed);
  return mb * 1000 * (cold / p[bq] + (1 - cold) / p[bqh]);
}
}  // namespace

double product_us(const Gemm& s, const Device& d, std::span<const double> p, Buffers buffers,
                  double chain) {
  double t = pnorm(chain, mem_us(s, d, p, buffers), p[pn]);
  if (odd_rows(s, buffers)) t *= p[odd];
  if (buffers == Buffers::replayed && s.m == 1) t *= p[m1];
  return p[t0] + t;
}

double quant_us(const Gemm& s, const Device& d, std::span<const double> p, Buffers buffers) {
  const double rows = std::max(1.0, s.m / (d.sms * p[occ])) * (p[tr] + p[rk] * s.k * 1e-3);
  const double t = std::max(rows, quant_bytes_us(s, d, p));
  return odd_rows(s, buffers) ? t * p[oddq] : t;
}

double quant_groups_us(const Gemm& s, const Device& d, std::span<const double> p, Buffers buffers) {
  const double groups = round_up(s.m * round_up(s.k / 128));
  double together = 16;
  if (buffers == Buffers::replayed)
    while (together > 1 && std::fmod(groups, together) != 0) together /= 2;
  return quant_bytes_us(s, d, p) + p[tg] * groups / together * 1e-3;
}

}  // namespace kvsim::cost::gemm
