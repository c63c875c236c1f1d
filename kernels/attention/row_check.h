#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/attention/reference.h"
#include "kernels/host/compare.h"
#include "kernels/numbers/numbers.h"

namespace kvsim::kernels {

// Compares rows of outputs and their log-sum-exp with references: a Check whose note says if the
// latter are off by more than 2e-3 of 1 + |reference|.
class RowCheck {
 public:
  RowCheck(double gate, std::vector<Bf16> out, std::vector<float> lse)
      : comparison_(gate), out_(std::move(out)), lse_(std::move(lse)) {}

  void add(std::int64_t row, const ReferenceRow& want) {
    const auto at = static_cast<std::size_t>(row) * want.out.size();
    for (std::size_t i = 0; i < want.out.size(); ++i)
      comparison_.add(static_cast<double>(to_float(out_[at + i])), want.out[i]);
    comparison_.end_row();
    const auto got = static_cast<double>(lse_[static_cast<std::size_t>(row)]);
    const double error = got == want.lse ? 0 : std::abs(got - want.lse) / (1 + std::abs(want.lse));
    lse_error_ = error <= lse_error_ ? lse_error_ : error;  // NaN is the largest
  }

  Check result() const {
    Check out = comparison_.result();
    if (!(lse_error_ <= 2e-3)) out.note = "log-sum-exp is off by " + std::to_string(lse_error_);
    return out;
  }

 private:
  Comparison comparison_;
  std::vector<Bf16> out_;
  std::vector<float> lse_;
  double lse_error_ = 0;
};

}  // namespace kvsim::kernels
