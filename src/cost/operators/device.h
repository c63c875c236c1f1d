#pragma once
#include "spec/gpu_spec.h"

namespace kvsim::cost {

// What a form may know of a GPU: datasheet figures in the units of the forms' parameters.
struct Device {
  double sms = 0;
  double l2_mb = 0;                             // 10^6 bytes
  double bandwidth = 0;                         // HBM peak, GB/s
  double bf16 = 0, fp8 = 0, fp4 = 0, int8 = 0;  // dense matrix peaks, TFLOP/s; bf16's where absent
  double link = 0;        // GPU to GPU inside a node, per direction, GB/s: its link, else PCIe
  double nic = 0;         // to another node, GB/s
  bool switched = false;  // has a GPU-to-GPU link
  double rate(spec::DType operands) const;  // TFLOP/s
};

Device device_of(const spec::GpuSpec& gpu);

}  // namespace kvsim::cost
