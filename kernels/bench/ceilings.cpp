#include "kernels/bench/ceilings.h"

#include <algorithm>

namespace kvsim::kernels::bench {
namespace {

constexpr std::string_view stream_kernels[] = {"read", "write", "copy"};
constexpr std::string_view product_kernels[] = {"gemm", "mma_peak"};
constexpr std::string_view chase_kernel = "pointer_chase";

bool among(std::span<const std::string_view> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void raise(std::optional<double>& ceiling, double value) {
  ceiling = std::max(ceiling.value_or(value), value);
}

std::int64_t number_in(const CaseInfo& info, std::string_view name) {
  for (const auto& [key, value] : info.shape)
    if (const auto* n = std::get_if<std::int64_t>(&value); n != nullptr && key == name) return *n;
  return 0;
}

}  // namespace

bool is_ceiling_case(const CaseInfo& info) {
  if (among(stream_kernels, info.kernel)) return number_in(info, "N") >= 1 << 30;
  if (info.kernel == "gemm") return number_in(info, "M") >= 4096;
  return info.kernel == "mma_peak" || info.kernel == chase_kernel;
}

void take_ceilings(std::span<const Result> results, Ceilings& out) {
  for (const Result& r : results) {
    if (r.status != Status::ok || !r.time_us) continue;
    const double us = r.time_us->median;
    const double gbs = r.floor.bytes / us * 1e-3;
    if (r.info.kernel == "read") raise(out.read_gbs, gbs);
    if (r.info.kernel == "write") raise(out.write_gbs, gbs);
    if (r.info.kernel == "copy") raise(out.copy_gbs, gbs);
    if (among(product_kernels, r.info.kernel) && r.info.kv_dtype == "bf16")
      raise(out.bf16_tflops, r.floor.flops / us * 1e-6);
    const std::int64_t steps = number_in(r.info, "steps");
    if (r.info.kernel == chase_kernel && steps > 0)
      out.hbm_ns = us * 1e3 / static_cast<double>(steps);
  }
}

}  // namespace kvsim::kernels::bench
