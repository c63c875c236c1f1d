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
std::vector<cost::ResidualTable> fit_tables(std::span<const Residual> rows, int features);

}  // namespace kvsim::calibrate
