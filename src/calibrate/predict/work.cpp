#include "calibrate/predict/work.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

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

std::optional<Format> find_format(std::string_view dtype) {
  using spec::DType;
  static constexpr std::array<std::pair<std::string_view, Format>, 14> formats{{
      {"bf16", {}},
      {"bfloat16", {}},
      {"fp16", {}},
      {"float16", {}},
      {"f16", {}},
      {"fp8", {1, 1, DType::fp8, true}},
      {"fp8_e4m3", {1, 1, DType::fp8, true}},
      {"fp8_block", {1 + 4.0 / (128 * 128), 1 + 4.0 / 128, DType::fp8, true}},
      {"int8", {1, 1, DType::int8, true}},
      {"nvfp4", {0.5625, 0.5625, DType::fp4, true}},
      {"int4_wo", {0.5 + 2.0 / 128, 2, DType::bfloat16, false}},
      {"w4a16_mxfp4", {0.5 + 1.0 / 32, 2, DType::bfloat16, false}},
      {"w4a8_mxfp4_mxfp8", {0.5 + 1.0 / 32, 1 + 1.0 / 32, DType::fp8, true}},
      {"fp32", {4, 4, DType::float32, false}},
  }};
  const auto found = std::ranges::find(formats, dtype, &std::pair<std::string_view, Format>::first);
  return found == formats.end() ? std::nullopt : std::optional(found->second);
}

double causal_pairs(double q, double kv, double window) {
  const double first = kv - q + 1;  // keys that the first query sees
  if (window <= 0 || window >= kv) return q * (first + kv) / 2;
  if (window <= first) return q * window;
  const double growing = window - first;  // queries that still see fewer keys than the window
  return growing * (first + window - 1) / 2 + (q - growing) * window;
}

WorkPlan plan(const BenchCase& shape, const Measurement& m) {
  const auto format = find_format(m.dtype);
  Work w;
  w.bytes = shape.bytes, w.flops = shape.flops, w.floor = bench_floor;
  if (!shape.rotating) w.replayed = w.resident = shape.bytes;
  if (format) w.operands = format->operands;
  w.matrix_share = cost::roofline::attention_share;
  return {{w}, {}};
}

}  // namespace kvsim::calibrate
