#pragma once
#include <vector>

#include "cost/operators/residual_table.h"

namespace kvsim::cost {

// The residual tables of a fit, ready to be evaluated together: tables of the pairs of a form's
// features share their axes, and a place among the knots is looked up once per axis. The same sum
// as that of ResidualTable::at(), bit by bit. Tables have one or two axes of at least two knots.
class TableSet {
 public:
  TableSet() = default;
  explicit TableSet(const std::vector<ResidualTable>& tables);

  bool empty() const { return tables_.empty(); }
  double at(const Features& features) const;

 private:
  struct Axis {
    std::size_t feature;
    std::vector<double> knots;
  };
  struct Table {
    std::size_t first, second;  // in axes_; equal where there is one alone
    bool is_flat;               // one axis
    std::size_t stride, values;
  };
  std::size_t axis(const ResidualTable::Axis& wanted);

  static constexpr std::size_t most_axes = 8;  // beyond these a table looks up its own
  std::vector<Axis> axes_;
  std::vector<Table> tables_;
  std::vector<double> values_;  // of all tables
};

}  // namespace kvsim::cost
