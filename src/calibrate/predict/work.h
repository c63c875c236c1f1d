#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/measurements/measurement.h"
#include "cost/operators/shapes.h"
#include "spec/gpu_spec.h"

// The datasheet roofline of single kernels: what each one moves and computes.
namespace kvsim::calibrate {

// One launch: its time is floor + max(bytes / bandwidth, flops / rate) + link time.
struct Work {
  double bytes = 0;     // through the GPU's memory, `replayed` included
  double replayed = 0;  // of buffers that every repetition of the measurement reads again
  double resident = 0;  // size of the set they belong to; warm where it fits the L2 cache
  double flops = 0;
  spec::DType operands = spec::DType::bfloat16;
  double matrix_share = 1;  // of the peak matrix rate
  double floor = 0;         // seconds
  double link_seconds = 0;
};

// The launches of a row, or why there is no formula for it.
struct WorkPlan {
  std::vector<Work> work;
  std::string unrepresentable;
};

// One per kind, in the file of its name; `m` carries the labels.
WorkPlan plan(const DecodeAttention& shape, const Measurement& m);
WorkPlan plan(const PrefillAttention& shape, const Measurement& m);
WorkPlan plan(const Mla& shape, const Measurement& m);
WorkPlan plan(const MlaBmm& shape, const Measurement& m);
WorkPlan plan(const Gemm& shape, const Measurement& m);
WorkPlan plan(const ExpertMlp& shape, const Measurement& m);
WorkPlan plan(const MemoryOp& shape, const Measurement& m);
WorkPlan plan(const LayerOp& shape, const Measurement& m);
WorkPlan plan(const BenchCase& shape, const Measurement& m);
// Over the GPU's links; "a100_pairwise" joins two GPUs by two, the others all of a node.
WorkPlan plan(const Collective& shape, const Measurement& m, const spec::GpuSpec& gpu);
WorkPlan plan(const ExpertExchange& shape, const Measurement& m, const spec::GpuSpec& gpu);

double seconds(const Work& work, const spec::GpuSpec& gpu);
// Share of the reads that still comes from memory when a set of `resident` bytes is read again and
// again.
double missed_share(double resident, const spec::GpuSpec& gpu);

using cost::causal_pairs;
using cost::find_format;
using cost::Format;
inline WorkPlan unknown_dtype(const std::string& dtype) {
  return {{}, "dtype \"" + dtype + "\" is not known"};
}

// A product of m rows by a stored k x n matrix.
Work gemm_work(double m, double n, double k, const Format& format);

}  // namespace kvsim::calibrate
