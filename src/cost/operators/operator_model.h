#pragma once
#include <string>
#include <vector>

#include "cost/operators/form.h"
#include "cost/operators/operator_fit.h"
#include "cost/operators/table_set.h"

namespace kvsim::cost {

// A form with its parameters and tables on one GPU, ready to be evaluated: no allocation, no lock.
class OperatorModel {
 public:
  // Throws InputError where the fit does not match its form (unknown form, other parameters).
  OperatorModel(const OperatorFit& fit, const Device& device);

  double seconds(const Shape& shape, Buffers buffers = Buffers::cold) const {
    return 1e-6 * microseconds(shape, buffers);
  }
  double microseconds(const Shape& shape, Buffers buffers) const;
  // How far the shape lies outside the calibrated range, in octaves of the worst feature; 0 inside.
  double octaves_outside(const Shape& shape) const;
  double log_sigma() const { return log_sigma_; }
  const Form& form() const { return *form_; }

 private:
  const Form* form_;
  Device device_;
  std::vector<double> parameters_;
  TableSet tables_;
  std::vector<double> low_, high_;
  double log_sigma_;
};

// What tables may add to a time: factor of at most this either way.
inline constexpr double table_limit = 2;

}  // namespace kvsim::cost
