#pragma once
#include <array>
#include <span>
#include <string_view>

#include "cost/operators/device.h"
#include "cost/operators/shapes.h"

// Closed forms of operator times. A form is physical: a launch floor, bytes over bandwidth, tiles
// over SMs, flops over rate, with few parameters that are fitted to one (GPU, framework, dtype).
// Units of parameters: microseconds, GB/s, TFLOP/s, MB = 10^6 bytes. Sources of the equations:
// docs/explanation/cost-model.md.
namespace kvsim::cost {

// Buffers of a benchmark are replayed and warm where they fit the L2 cache; a serving step's are
// cold.
enum class Buffers { cold, replayed };

// How a parameter carries over to a GPU without measurements, by ratio of the datasheets.
enum class Scaling { none, bandwidth, matrix_rate, tile_time, link, l2 };

struct Parameter {
  std::string_view name;
  double start;      // a plausible value, where fits begin
  double low, high;  // bounds; equal ones fix it
  Scaling scaling = Scaling::none;
};

inline constexpr int max_features = 4;
using Features = std::array<double, max_features>;  // log2 of a shape's sizes

// A row of the table of forms. `kernel` is the group that measurements count in (gemm, decode_attn,
// prefill_attn, mla, mla_module, mla_bmm, moe, comm, moe_a2a, memops, vidur_layer_ops); several
// forms of one kernel are rivals (tile policies, packed or per-head kernels), and the fit chooses.
struct Form {
  std::string_view kernel, name, summary;
  // Whether the form is for such a shape (MLA decode or prefill); null: for all of its kernel.
  bool (*applies)(const Shape& shape);
  std::span<const Parameter> parameters;
  // Microseconds of one call; finite and positive for valid shapes, no allocation. The shape is the
  // kernel's own alternative of the variant.
  double (*microseconds)(const Shape& shape, const Device& device, std::span<const double> p,
                         Buffers buffers);
  // Coordinates for the residual table and the calibrated range.
  Features (*features)(const Shape& shape);
  std::span<const std::string_view> feature_names;  // at most max_features
  // Whether a GPU's libraries have such kernels, so that a fit may choose the form; null: all do.
  bool (*runs_on)(const Device& device) = nullptr;
};

// All forms, by kernel. Every kernel has a last one named "roofline", floor + max(bytes /
// bandwidth, flops / rate), that serves as the baseline and never as a rival.
std::span<const Form> forms();
const Form* find_form(std::string_view kernel, std::string_view name);
inline constexpr std::string_view baseline_form = "roofline";

// One table per file of this folder.
std::span<const Form> gemm_forms();
std::span<const Form> decode_attention_forms();
std::span<const Form> prefill_attention_forms();
std::span<const Form> mla_forms();
std::span<const Form> mla_module_forms();
std::span<const Form> mla_bmm_forms();
std::span<const Form> moe_forms();
std::span<const Form> collective_forms();
std::span<const Form> exchange_forms();
std::span<const Form> elementwise_forms();
std::span<const Form> baseline_forms();

// Shared pieces.
double pnorm(double x, double y, double p);  // (x^p + y^p)^(1/p)
// The larger of both at c = 0, their sum at c = 1; without a power.
inline double smooth_max(double x, double y, double c) {
  return 0.5 * (x + y + __builtin_sqrt((x - y) * (x - y) + 4 * c * x * y));
}
// Share of a replayed set of `mb` that comes from memory: 1 / (1 + (share L2 / mb)^sharpness);
// 1 when cold.
double missed(double mb, double l2_mb, double share, double sharpness, Buffers buffers);
// What memory sustains: a fit to replayed buffers may say more than the datasheet, cold ones do not
// reach it.
inline double bytes_rate(double fitted, const Device& d, Buffers buffers) {
  return buffers == Buffers::cold && fitted > d.bandwidth ? d.bandwidth : fitted;
}
inline double waves(double work, double sms) { return __builtin_ceil(work / sms); }

}  // namespace kvsim::cost
