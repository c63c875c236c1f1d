#include <algorithm>

#include "kernels/bench/document.h"

namespace kvsim::kernels::bench {
namespace {

// The rate of the host link for the kernels that move pages across it; their floor counts each byte
// on both sides.
std::optional<double> link_gbs(const CaseInfo& info, const Ceilings& ceilings) {
  if (info.kernel == "page_gather") return ceilings.d2h_gbs;
  if (info.kernel == "page_scatter") return ceilings.h2d_gbs;
  return std::nullopt;
}

}  // namespace

Rates rates_of(const Result& result, const Ceilings& ceilings) {
  Rates out;
  if (!result.time_us) return out;
  const double us = result.time_us->median;
  // 1 GB/s is 1e3 bytes per microsecond, 1 TFLOP/s 1e6 operations.
  out.gbs = result.floor.bytes / us * 1e-3;
  out.tflops = result.floor.flops / us * 1e-6;
  if (ceilings.read_gbs) out.frac_read_bw = *out.gbs / *ceilings.read_gbs;
  if (!ceilings.copy_gbs) return out;
  out.frac_copy_bw = *out.gbs / *ceilings.copy_gbs;
  double floor_us = result.floor.bytes / *ceilings.copy_gbs * 1e-3;
  if (ceilings.bf16_tflops)
    floor_us = std::max(floor_us, result.floor.flops / *ceilings.bf16_tflops * 1e-6);
  if (const auto link = link_gbs(result.info, ceilings))
    floor_us = std::max(floor_us, result.floor.bytes / 2 / *link * 1e-3);
  out.floor_us = floor_us;
  out.frac_floor = floor_us / us;
  return out;
}

}  // namespace kvsim::kernels::bench
