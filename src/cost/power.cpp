#include "cost/power.h"

#include <algorithm>

namespace kvsim::cost {

double Power::load(const StepBill& bill) const {
  const double peak_bytes = bandwidth.value() * bill.seconds;
  const double peak_flops = peak_bytes * bill.ridge;
  if (peak_bytes <= 0) return 0;
  const double compute = peak_flops > 0 ? bill.flops / peak_flops : 0;
  return std::min(1.0, bandwidth_weight * bill.bytes / peak_bytes + compute_weight * compute);
}

std::optional<Power> power_of(const spec::GpuSpec& gpu) {
  if (gpu.tdp_w <= 0) return std::nullopt;
  return Power{idle_share * gpu.tdp_w, gpu.tdp_w, gpu.memory_bandwidth};
}

}  // namespace kvsim::cost
