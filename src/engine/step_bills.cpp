#include "engine/step_bills.h"

#include <algorithm>

namespace kvsim::engine {

OperatorUse& StepBills::use(const std::string& name) {
  const auto found = std::ranges::find(sums_.operators, name, &OperatorUse::name);
  if (found != sums_.operators.end()) return *found;
  sums_.operators.emplace_back().name = name;
  return sums_.operators.back();
}

void StepBills::add(const cost::StepBill& bill, const cost::Spread& spread, double load,
                    std::int64_t steps) {
  double parts = 0;
  for (const cost::OperatorTime& op : bill.operators) parts += op.seconds;
  if (parts <= 0) return;
  const auto stands_for = static_cast<double>(steps - billed_steps_);
  parts *= stands_for;
  for (const cost::OperatorTime& op : bill.operators) {
    const double share = op.seconds * stands_for;
    const auto binds = static_cast<std::size_t>(op.binds),
               source = static_cast<std::size_t>(op.source);
    sums_.by_binds[binds] += share;
    sums_.by_source[source] += share;
    if (op.octaves_outside > 0) {
      sums_.outside_s += share;
      sums_.octaves_outside = std::max(sums_.octaves_outside, op.octaves_outside);
    }
    OperatorUse& to = use(op.name);
    to.seconds += share;
    to.calls += static_cast<double>(op.calls) * stands_for;
    to.by_binds[binds] += share;
    to.by_source[source] += share;
  }
  sums_.full_load_s += load * parts;
  low_s_ += spread.factor(cost::End::low) * parts;
  high_s_ += spread.factor(cost::End::high) * parts;
  billed_s_ += parts;
  billed_steps_ = steps;
}

StepTimes StepBills::totals(double busy_s, std::int64_t steps) const {
  StepTimes t = sums_;
  if (billed_s_ <= 0) return t;
  const double scale = busy_s / billed_s_;
  const double more_steps = static_cast<double>(steps) / static_cast<double>(billed_steps_);
  for (double& part : t.by_binds) part *= scale;
  for (double& part : t.by_source) part *= scale;
  t.outside_s *= scale;
  t.full_load_s *= scale;
  for (OperatorUse& op : t.operators) {
    op.seconds *= scale;
    op.calls *= more_steps;
    for (double& part : op.by_binds) part *= scale;
    for (double& part : op.by_source) part *= scale;
  }
  t.low_ratio = low_s_ / billed_s_;
  t.high_ratio = high_s_ / billed_s_;
  return t;
}

}  // namespace kvsim::engine
