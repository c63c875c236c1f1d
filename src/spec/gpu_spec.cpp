#include "spec/gpu_spec.h"

namespace kvsim::spec {

using config::at_least;
using config::FieldVisitor;

FlopRate GpuSpec::matrix_rate(DType t) const {
  const auto first = [](double fast, double fallback) {
    return FlopRate((fast > 0 ? fast : fallback) * 1e12);
  };
  switch (t) {
    case DType::float32:
      return first(tf32_tflops, fp32_tflops);
    case DType::bfloat16:
    case DType::float16:
      return first(bf16_tflops, fp32_tflops);
    case DType::fp8:
      return first(fp8_tflops, bf16_tflops);
    case DType::int8:
      return first(int8_tops, bf16_tflops);
    case DType::int4:
      return FlopRate(bf16_tflops * 1e12);  // weights are widened before the multiply
    case DType::fp4:
      return first(fp4_tflops, bf16_tflops);
  }
  return FlopRate(0);
}

void fields(FieldVisitor& v, GpuSpec& g) {
  v.field({"id", "catalog id: lower-case letters, digits, dots and hyphens", {}, true}, g.id);
  v.field({"aliases", "other names, compared without case"}, g.aliases);
  v.field({"vendor", "maker"}, g.vendor);
  v.field({"architecture", "generation"}, g.architecture);
  v.field({"memory", "device memory on the data sheet", {}, true}, g.memory, config::above(0));
  v.field({"memory_reported", "device memory as the driver reports it; used where known"},
          g.memory_reported, config::above(0));
  v.field({"memory_bandwidth", "peak of the device memory", {}, true}, g.memory_bandwidth,
          config::above(0));
  v.field({"fp32_tflops", "dense 10^12 flop/s outside the matrix units"}, g.fp32_tflops,
          at_least(0));
  v.field({"tf32_tflops", "dense 10^12 flop/s; 0 = no such path"}, g.tf32_tflops, at_least(0));
  v.field({"bf16_tflops", "dense 10^12 flop/s of bfloat16 and float16 with float32 sums", {}, true},
          g.bf16_tflops, config::above(0));
  v.field({"fp8_tflops", "dense 10^12 flop/s; 0 = no such path"}, g.fp8_tflops, at_least(0));
  v.field({"fp4_tflops", "dense 10^12 flop/s; 0 = no such path"}, g.fp4_tflops, at_least(0));
  v.field({"int8_tops", "dense 10^12 op/s; 0 = no such path"}, g.int8_tops, at_least(0));
  v.field({"l2_mb", "last-level cache, 10^6 bytes"}, g.l2_mb, at_least(0));
  v.field({"sm_count", "streaming multiprocessors or compute units"}, g.sm_count, at_least(0));
  v.field({"link", "id of the GPU-to-GPU link; \"\" = PCIe only"}, g.link);
  v.field({"link_bandwidth", "of that link, per direction and GPU; 0 = none"}, g.link_bandwidth,
          at_least(0));
  v.field({"pcie_gen", "PCIe generation"}, g.pcie_gen, at_least(0));
  v.field({"pcie_bandwidth", "PCIe peak per direction"}, g.pcie_bandwidth, at_least(0));
  v.field({"nic_bandwidth", "usual network card, per GPU and direction"}, g.nic_bandwidth,
          at_least(0));
  v.field({"tdp_w", "board power limit, watt"}, g.tdp_w, at_least(0));
  v.field({"price_usd_h_low", "lowest rental price seen, USD per hour"}, g.price_usd_h_low,
          at_least(0));
  v.field({"price_usd_h_high", "highest rental price seen, USD per hour"}, g.price_usd_h_high,
          at_least(0));
  v.field({"verified",
           "Y = capacity, bandwidth and matrix rates read in the source; P = some; N = recalled"},
          g.verified);
  v.field({"sources", "where each figure comes from"}, g.sources);
  v.field({"notes", "what a reader should know"}, g.notes);
}

void fields(FieldVisitor& v, LinkSpec& l) {
  v.field({"id", "catalog id", {}, true}, l.id);
  v.field({"aliases", "other names, compared without case"}, l.aliases);
  v.field({"kind", "nvlink, pcie, infiniband, ethernet, c2c or xgmi", {}, true}, l.kind);
  v.field({"bandwidth", "peak per direction", {}, true}, l.bandwidth, config::above(0));
  v.field({"efficiency", "share of the peak that a large copy reaches"}, l.efficiency,
          config::above_up_to(0, 1));
  v.field({"latency", "time of one small message"}, l.latency, at_least(0));
  v.field({"sources", "where each figure comes from"}, l.sources);
  v.field({"notes", "what a reader should know"}, l.notes);
}

}  // namespace kvsim::spec
