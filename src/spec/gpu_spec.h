#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "diag/diagnostic.h"
#include "spec/dtype.h"
#include "units/units.h"

namespace kvsim::spec {

// One accelerator. Rates are dense peaks from the datasheet; 0 = the part has no such path.
struct GpuSpec {
  std::string id;
  std::vector<std::string> aliases;
  std::string vendor, architecture;
  Bytes memory;                          // nameplate
  std::optional<Bytes> memory_reported;  // what the driver reports; used where known
  Bandwidth memory_bandwidth;            // peak
  double fp32_tflops = 0, tf32_tflops = 0, bf16_tflops = 0, fp8_tflops = 0, fp4_tflops = 0,
         int8_tops = 0;
  double l2_mb = 0;           // 10^6 bytes
  std::int64_t sm_count = 0;  // SMs or CUs
  std::string link;           // id of the GPU-to-GPU link, "" = PCIe only
  Bandwidth link_bandwidth;   // per direction and GPU; 0 = none
  int pcie_gen = 0;
  Bandwidth pcie_bandwidth;  // per direction
  Bandwidth nic_bandwidth;   // usual NIC per GPU and direction
  double tdp_w = 0;
  std::optional<double> price_usd_h_low, price_usd_h_high;  // seen rental prices; inputs, not facts
  std::string verified;                                     // Y, P or N, as in the data's README
  std::vector<std::string> sources;
  std::string notes;

  Bytes usable_memory() const { return memory_reported.value_or(memory); }
  // Dense matrix rate for operands of this type; bf16 where the part has no faster path for it.
  FlopRate matrix_rate(DType t) const;
};

// A link between GPUs or between a GPU and a host.
struct LinkSpec {
  std::string id;
  std::vector<std::string> aliases;
  std::string kind;       // nvlink, pcie, infiniband, ethernet, c2c, xgmi
  Bandwidth bandwidth;    // peak per direction
  double efficiency = 1;  // share of the peak a large copy reaches
  Duration latency;       // one small message
  std::vector<std::string> sources;
  std::string notes;
};

// How one replica is spread over GPUs.
struct ParallelPlan {
  int tensor_parallel_size = 1;
  int pipeline_parallel_size = 1;
  int data_parallel_size = 1;
  bool enable_expert_parallel = false;
  // Layers of each stage; empty = as even as possible.
  std::vector<std::int64_t> layer_partition = {};
  int gpus() const { return tensor_parallel_size * pipeline_parallel_size * data_parallel_size; }
};

inline constexpr std::string_view gpu_schema = "kvsim.gpu/1";
inline constexpr std::string_view link_schema = "kvsim.link/1";
void fields(config::FieldVisitor& v, GpuSpec& g);
void fields(config::FieldVisitor& v, LinkSpec& l);

}  // namespace kvsim::spec
