#include "calibrate/predict/floors.h"
#include "calibrate/predict/work.h"
#include "cost/roofline_constants.h"

namespace kvsim::calibrate {
namespace {

constexpr double rotating_copies = 6;  // of the weight, in one graph

}  // namespace

Work gemm_work(double m, double n, double k, const Format& format) {
  Work w;
  const double weight = n * k * format.weight_bytes;
  w.replayed = weight, w.resident = rotating_copies * weight;
  w.bytes = weight + m * k * format.activation_bytes + 2 * m * n;
  w.flops = 2 * m * n * k;
  w.operands = format.operands, w.matrix_share = cost::roofline::gemm_share;
  w.floor = gemm_floor + (format.quantises_activations ? quantise_floor : 0);
  if (format.quantises_activations) w.bytes += m * k * (2 + format.activation_bytes);
  return w;
}

WorkPlan plan(const Gemm& s, const Measurement& m) {
  const auto format = find_format(m.dtype);
  if (!format) return unknown_dtype(m.dtype);
  return {{gemm_work(static_cast<double>(s.m), static_cast<double>(s.n), static_cast<double>(s.k),
                     *format)},
          {}};
}

}  // namespace kvsim::calibrate
