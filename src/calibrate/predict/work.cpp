#include "calibrate/predict/work.h"

#include <algorithm>
#include <cmath>

#include "calibrate/predict/floors.h"
#include "cost/roofline_constants.h"

namespace kvsim::calibrate {

double missed_share(double resident, const spec::GpuSpec& gpu) {
  if (resident <= 0) return 1;
  return 1 / (1 + std::pow(l2_usable * gpu.l2_mb * 1e6 / resident, 8));
}

double seconds(const Work& w, const spec::GpuSpec& gpu) {
  const double bandwidth = gpu.memory_bandwidth.value() * cost::roofline::bandwidth_share;
  const double cache = std::max(bandwidth, static_cast<double>(gpu.sm_count) * l2_rate_per_sm);
  const double warm = w.replayed * (1 - missed_share(w.resident, gpu));
  const double memory = (w.bytes - warm) / bandwidth + warm / cache;
  const double rate = gpu.matrix_rate(w.operands).value() * w.matrix_share;
  const double compute = w.flops > 0 ? w.flops / rate : 0;
  return w.floor + std::max(memory, compute) + w.link_seconds;
}

WorkPlan plan(const BenchCase& shape, const Measurement& m) {
  const auto format = find_format(m.dtype);
  Work w;
  w.bytes = shape.bytes, w.flops = shape.flops, w.floor = bench_floor;
  w.replayed = w.resident = shape.bytes;
  if (format) w.operands = format->operands;
  w.matrix_share = cost::roofline::attention_share;
  return {{w}, {}};
}

}  // namespace kvsim::calibrate
