#pragma once
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/step_shape.h"
#include "kvformat/kv_dtype.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"
#include "units/units.h"

namespace kvsim::cost {

// Where a time comes from, and what error class that carries.
enum class Source { measured, fitted, datasheet, constant };
inline constexpr std::array<std::string_view, 4> source_names{"measured", "fitted", "datasheet",
                                                              "constant"};

// What limits an operator or a step.
enum class Binds { compute, memory_bandwidth, link, launch };
inline constexpr std::array<std::string_view, 4> binds_names{"compute", "HBM bandwidth", "link",
                                                             "launch floor"};

// One line of a step's bill.
struct OperatorTime {
  std::string name;    // "qkv_gemm", "attention[global]", "all_reduce", "lm_head", ...
  double seconds = 0;  // all layers of all stages together
  double flops = 0;
  double bytes = 0;        // HBM traffic; link traffic for communication
  std::int64_t calls = 0;  // kernel launches
  Binds binds = Binds::memory_bandwidth;
  Source source = Source::datasheet;
  // How far its shape lies outside the calibrated range, in doublings; 0 inside, and where nothing
  // was calibrated.
  double octaves_outside = 0;
};

// One end of an interval.
enum class End { low, high };

// How far a time may be off, as natural logarithms of the factor: nine true times in ten lie
// between predicted * exp(-below) and predicted * exp(above). Neither is negative.
struct Spread {
  double below = 0, above = 0;
  bool none() const { return below == 0 && above == 0; }
  double factor(End end) const { return std::exp(end == End::low ? -below : above); }
};

struct StepBill {
  std::vector<OperatorTime> operators;
  double seconds = 0;
  double flops = 0,
         bytes = 0;      // per GPU of a stage group, all stages together; link traffic excluded
  double intensity = 0;  // flops / bytes
  double ridge = 0;      // the GPU's matrix rate for most of the flops / bandwidth
  Binds binds = Binds::memory_bandwidth;
};

// Step time of one model on one GPU group. Immutable after construction; step_seconds() allocates
// nothing and costs tens of nanoseconds per distinct operator.
class CostModel {
 public:
  virtual ~CostModel() = default;
  virtual double step_seconds(const StepShape& shape) const = 0;
  // The same time with its parts, for reports; may allocate. bill(s).seconds == step_seconds(s).
  virtual StepBill bill(const StepShape& shape) const = 0;
  // How far step_seconds() of this shape may be off: scatter of the operators about their fits, and
  // what the model leaves out. Allocates nothing.
  virtual Spread spread(const StepShape& shape) const = 0;
  virtual Source source() const = 0;
  virtual std::string describe() const = 0;  // one sentence: source and known error
};

// Every step takes `step` (scheduler tests).
std::unique_ptr<CostModel> make_constant(Duration step);

// Every step takes `factor` times as long as in `model`, which must outlive it; the factor is above
// 0. The spread stays.
std::unique_ptr<CostModel> make_scaled(const CostModel& model, double factor);
// Every step takes as long as at one end of its own spread in `model`, which must outlive it.
std::unique_ptr<CostModel> make_at_end(const CostModel& model, End end);

struct RooflineOptions {
  spec::ParallelPlan plan;
  kvformat::KvDtype kv_dtype;
  bool enforce_eager = false;
  // Steps up to this many tokens are padded to the next captured size (vLLM: cuda_graph_limit());
  // 0, or enforce_eager: none.
  std::int64_t cuda_graph_tokens = 0;
  // The GPU-to-GPU link; without one, the GPU's own link or PCIe bandwidth at the default latency.
  std::optional<spec::LinkSpec> link;
};
// Datasheet roofline over the model's real operators: per-layer GEMMs, attention by group,
// all-reduce, LM head, with launch floors (docs/explanation/roofline.md has every constant and its
// source). A pipeline's step is the sum of its stages: one batch from end to end.
std::unique_ptr<CostModel> make_roofline(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                                         const RooflineOptions& options);

// Largest step that vLLM captures a graph for, and the captured size that `tokens` is padded to
// (sizes 1, 2, 4, then multiples of 8 below 256, of 16 above).
std::int64_t cuda_graph_limit(std::int64_t max_num_batched_tokens, std::int64_t max_num_seqs,
                              std::int64_t spec_tokens, const spec::GpuSpec& gpu);
std::int64_t cuda_graph_size(std::int64_t tokens, std::int64_t limit);
// How many sizes are captured up to `limit`.
std::int64_t cuda_graph_count(std::int64_t limit);

}  // namespace kvsim::cost
