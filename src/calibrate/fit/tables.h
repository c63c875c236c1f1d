#pragma once
#include <span>
#include <vector>

#include "cost/operators/residual_table.h"

namespace kvsim::calibrate {

// Fits a sum of smooth tables to what a form left over. Which tables, how fine and how stiff is
// decided by four-fold cross-validation; no table when none helps.
struct Residual {
  cost::Features features;
  double log_ratio = 0;  // log(measured / form)
  double weight = 1;
};

// A shape before and after its work grew. Tables that let the time fall there by more than 2 %
// are pulled back.
struct Growth {
  cost::Features from, to;
  double form_gain = 0;  // log(form after / form before)
};
std::vector<cost::ResidualTable> fit_tables(std::span<const Residual> rows, int features,
                                            std::span<const Growth> growths = {});

}  // namespace kvsim::calibrate
