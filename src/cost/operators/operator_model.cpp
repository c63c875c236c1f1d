#include "cost/operators/operator_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diag/diagnostic.h"

namespace kvsim::cost {
namespace {

void refuse(const OperatorFit& fit, std::string message) {
  throw InputError({.code = "cost-fit",
                    .message = fmt::format("{} fit ({}): {}", fit.kernel, fit.dtype, message),
                    .hint = "write it with `kvsim calibrate`"});
}

void check(const OperatorFit& fit, const Form& form) {
  if (fit.parameter_names.size() != form.parameters.size() ||
      fit.parameters.size() != form.parameters.size())
    refuse(fit, fmt::format("form \"{}\" has {} parameters, not {}", form.name,
                            form.parameters.size(), fit.parameters.size()));
  for (std::size_t i = 0; i < form.parameters.size(); ++i) {
    if (fit.parameter_names[i] != form.parameters[i].name)
      refuse(fit, fmt::format("parameter {} of form \"{}\" is \"{}\", not \"{}\"", i, form.name,
                              form.parameters[i].name, fit.parameter_names[i]));
    if (!(fit.parameters[i] > 0) || !std::isfinite(fit.parameters[i]))
      refuse(fit, fmt::format("parameter \"{}\" must be positive", form.parameters[i].name));
  }
  for (const ResidualTable& t : fit.tables) {
    std::size_t size = t.axes.size() == 1 || t.axes.size() == 2 ? 1 : 0;
    for (const ResidualTable::Axis& a : t.axes) {
      if (a.knots.size() < 2 || !std::ranges::is_sorted(a.knots, std::less_equal<>())) size = 0;
      size *= a.knots.size();
    }
    if (size == 0 || size != t.values.size())
      refuse(fit, "a residual table needs one or two axes of ascending knots and a value for each");
  }
}

}  // namespace

OperatorModel::OperatorModel(const OperatorFit& fit, const Device& device)
    : form_(find_form(fit.kernel, fit.form)),
      device_(device),
      parameters_(fit.parameters),
      low_(fit.low),
      high_(fit.high),
      log_sigma_(fit.log_sigma) {
  if (!form_) refuse(fit, fmt::format("no form \"{}\" of this kernel", fit.form));
  check(fit, *form_);
  tables_ = TableSet(fit.tables);
}

double OperatorModel::microseconds(const Shape& shape, Buffers buffers) const {
  const double form = form_->microseconds(shape, device_, parameters_, buffers);
  if (tables_.empty()) return form;
  const double log = tables_.at(form_->features(shape));
  static const double limit = std::log(table_limit);
  return form * std::exp(std::clamp(log, -limit, limit));
}

double OperatorModel::octaves_outside(const Shape& shape) const {
  if (low_.empty()) return 0;
  const Features features = form_->features(shape);
  double worst = 0;
  for (std::size_t i = 0; i < low_.size() && i < high_.size(); ++i)
    worst = std::max({worst, low_[i] - features[i], features[i] - high_[i]});
  return worst;
}

}  // namespace kvsim::cost
