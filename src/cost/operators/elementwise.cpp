#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"

// A kernel that streams rows, one CTA each, occ of them on an SM at a time:
//   row = max(1, rows / (SMs occ)) (tr + rk row MB)
//   mem = MB (cold / bw + (1 - cold) / bwh)
//   t   = t0 + pnorm(row, mem; pn)
// Few long rows are far slower than their bytes say.
namespace kvsim::cost {
namespace {

enum : std::size_t { t0, bw, bwh, cl2, ql, tr, rk, occ, pn, count };
constexpr std::array<Parameter, count> parameters{{
    {"t0", 1.7, 0.1, 50},
    {"bw", 2000, 50, 9000, Scaling::bandwidth},
    {"bwh", 4000, 100, 40000, Scaling::bandwidth},  // while in the L2 cache
    {"cl2", 0.9, 0.05, 5},                          // part of L2 that replayed rows stay in
    {"ql", 6, 1, 20},
    {"tr", 0.25, 0.001, 20},  // us of a row
    {"rk", 40, 0.1, 500},     // us of its MB
    {"occ", 2.5, 0.25, 64},
    {"pn", 3, 1, 8},
}};

double row_us(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  const Elementwise& s = *std::get_if<Elementwise>(&shape);
  const double mb = s.bytes() * 1e-6;
  const double row =
      std::max(1.0, s.rows / (d.sms * p[occ])) * (p[tr] + p[rk] * s.row_bytes * 1e-6);
  const double cold = missed(mb, d.l2_mb, p[cl2], p[ql], buffers);
  const double mem = mb * 1000 * ((1 - cold) / p[bwh] + cold / bytes_rate(p[bw], d, buffers));
  return p[t0] + pnorm(row, mem, p[pn]);
}

constexpr std::array<std::string_view, 2> names{"log2_rows", "log2_row_bytes"};
Features features(const Shape& shape) {
  const Elementwise& s = *std::get_if<Elementwise>(&shape);
  return {std::log2(s.rows), std::log2(s.row_bytes)};
}
constexpr std::string_view summary = "rows of one CTA each, against memory";
bool is_rows(const Shape& shape) { return std::holds_alternative<Elementwise>(shape); }

constexpr std::array<Form, 2> table{
    {{"memops", "rows", summary, nullptr, parameters, row_us, features, names},
     {"vidur_layer_ops", "rows", summary, is_rows, parameters, row_us, features, names}}};

}  // namespace

std::span<const Form> elementwise_forms() { return table; }

}  // namespace kvsim::cost
