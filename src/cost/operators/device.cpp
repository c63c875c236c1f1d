#include "cost/operators/device.h"

namespace kvsim::cost {

double Device::rate(spec::DType operands) const {
  switch (operands) {
    case spec::DType::fp8:
      return fp8;
    case spec::DType::fp4:
      return fp4;
    case spec::DType::int8:
      return int8;
    default:
      return bf16;
  }
}

Device device_of(const spec::GpuSpec& gpu) {
  using spec::DType;
  constexpr double giga = 1e9, tera = 1e12;
  Device d;
  d.sms = static_cast<double>(gpu.sm_count);
  d.l2_mb = gpu.l2_mb;
  d.bandwidth = gpu.memory_bandwidth.value() / giga;
  d.bf16 = gpu.matrix_rate(DType::bfloat16).value() / tera;
  d.fp8 = gpu.matrix_rate(DType::fp8).value() / tera;
  d.fp4 = gpu.matrix_rate(DType::fp4).value() / tera;
  d.int8 = gpu.matrix_rate(DType::int8).value() / tera;
  d.switched = gpu.link_bandwidth.value() > 0;
  d.link = (d.switched ? gpu.link_bandwidth : gpu.pcie_bandwidth).value() / giga;
  d.nic = gpu.nic_bandwidth.value() / giga;
  return d;
}

}  // namespace kvsim::cost
