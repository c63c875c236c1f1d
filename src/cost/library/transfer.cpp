#include "cost/library/transfer.h"

#include <algorithm>
#include <cmath>

#include "cost/operators/form.h"
#include "cost/operators/format.h"
#include "diag/check.h"

namespace kvsim::cost {
namespace {

constexpr double same_rate_per_sm = 0.1;  // largest |log ratio| within one architecture
constexpr double prefill_tile_exponent = -0.7;
constexpr double sister = 0.02;  // within one chip
constexpr double sister_sigma = 0.08, alike_sigma = 0.2, far_sigma = 0.35;

// 1 where either datasheet is silent.
double ratio(double to, double from) { return to > 0 && from > 0 ? to / from : 1; }

spec::DType operands_of(const OperatorFit& fit) {
  const auto format = find_format(fit.dtype);
  return format ? format->operands : spec::DType::bfloat16;
}

double rate_per_sm(const OperatorFit& fit, const Device& from, const Device& to) {
  const spec::DType operands = operands_of(fit);
  return ratio(to.rate(operands), from.rate(operands)) / ratio(to.sms, from.sms);
}

double factor(Scaling scaling, const OperatorFit& fit, const Device& from, const Device& to) {
  switch (scaling) {
    case Scaling::none:
      return 1;
    case Scaling::bandwidth: {
      const double r = ratio(to.bandwidth, from.bandwidth);
      const bool narrow_attention =
          (fit.kernel == "decode_attn" || fit.kernel == "prefill_attn") && fit.kv_dtype == "fp8";
      return narrow_attention && r > 1 ? (1 + r) / 2 : r;
    }
    case Scaling::matrix_rate: {
      const spec::DType operands = operands_of(fit);
      return ratio(to.rate(operands), from.rate(operands));
    }
    case Scaling::tile_time:
      // Tiles of decode attention wait for memory: a part with less compute per SM is not slower.
      if (fit.kernel == "decode_attn" || (fit.kernel == "mla" && fit.regime == "decode"))
        return 1 / std::max(1.0, rate_per_sm(fit, from, to));
      return std::pow(rate_per_sm(fit, from, to),
                      fit.kernel == "prefill_attn" ? prefill_tile_exponent : -1);
    case Scaling::link:
      return ratio(to.link, from.link);
    case Scaling::l2:
      return ratio(to.l2_mb, from.l2_mb);
  }
  return 1;
}

bool on_bound(double value, const Parameter& p) {
  return value <= p.low * 1.01 || value >= p.high * 0.99;
}

bool same_kernels(const OperatorFit& fit, const Device& from, const Device& to) {
  return std::abs(std::log(rate_per_sm(fit, from, to))) < same_rate_per_sm;
}

}  // namespace

double transfer_log_sigma(const OperatorFit& fit, const Device& from, const Device& to) {
  const double apart = std::abs(std::log(rate_per_sm(fit, from, to)));
  return apart < sister ? sister_sigma : apart < same_rate_per_sm ? alike_sigma : far_sigma;
}

double transfer_distance(const Device& from, const Device& to) {
  const double per_sm = std::log(ratio(to.bf16, from.bf16) / ratio(to.sms, from.sms));
  return 2 * std::abs(per_sm) + std::abs(std::log(ratio(to.bandwidth, from.bandwidth))) +
         0.5 * std::abs(std::log(ratio(to.sms, from.sms))) +
         (from.switched != to.switched ? 0.5 : 0.0);
}

OperatorFit transfer(const OperatorFit& fit, const Device& from, const Device& to) {
  const Form* form = find_form(fit.kernel, fit.form);
  KVSIM_CHECK(form && form->parameters.size() == fit.parameters.size(),
              "transfer of a {} fit that does not match its form", fit.kernel);
  OperatorFit out = fit;
  for (std::size_t i = 0; i < out.parameters.size(); ++i) {
    const Parameter& p = form->parameters[i];
    if (p.scaling == Scaling::none || on_bound(fit.parameters[i], p)) continue;
    out.parameters[i] =
        std::clamp(fit.parameters[i] * factor(p.scaling, fit, from, to), p.low, p.high);
  }
  if (!same_kernels(fit, from, to)) out.tables.clear();
  out.errors = {}, out.holdout = {};
  out.log_sigma = std::hypot(fit.log_sigma, transfer_log_sigma(fit, from, to));
  // A symmetric spread: the sign of the donor's errors says nothing here.
  if (!out.log_quantiles.empty())
    out.log_quantiles = {-1.645 * out.log_sigma, -0.674 * out.log_sigma, 0, 0.674 * out.log_sigma,
                         1.645 * out.log_sigma};
  return out;
}

}  // namespace kvsim::cost
