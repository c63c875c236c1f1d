#include "cost/operators/form.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kvsim::cost {

std::span<const Form> forms() {
  static const std::vector<Form> all = [] {
    std::vector<Form> out;
    for (const auto part :
         {gemm_forms(), decode_attention_forms(), prefill_attention_forms(), mla_forms(),
          mla_module_forms(), mla_bmm_forms(), moe_forms(), collective_forms(), exchange_forms(),
          elementwise_forms(), baseline_forms()})
      out.insert(out.end(), part.begin(), part.end());
    return out;
  }();
  return all;
}

const Form* find_form(std::string_view kernel, std::string_view name) {
  const auto all = forms();
  const auto at = std::ranges::find_if(
      all, [&](const Form& f) { return f.kernel == kernel && f.name == name; });
  return at == all.end() ? nullptr : &*at;
}

double pnorm(double x, double y, double p) {
  // Scaled by the larger one, so that no power overflows.
  const double high = std::max(x, y), low = std::min(x, y);
  if (low <= 0) return high;
  return high * std::pow(1 + std::pow(low / high, p), 1 / p);
}

double missed(double mb, double l2_mb, double share, double sharpness, Buffers buffers) {
  if (buffers == Buffers::cold || mb <= 0) return 1;
  return 1 / (1 + std::pow(share * l2_mb / mb, sharpness));
}

}  // namespace kvsim::cost
