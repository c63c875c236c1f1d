#pragma once
#include <optional>
#include <string>
#include <vector>

#include "calibrate/predict/cost_fits.h"
#include "calibrate/predict/neighbours.h"
#include "calibrate/profile/operator_rows.h"
#include "calibrate/validation.h"

namespace kvsim::calibrate {

// The rows of one operator and what predicts them.
class OperatorPredictions {
 public:
  // Without a fit for the labels nothing is predicted. May be run on several threads for different
  // rows: `fits` is only asked by choose().
  OperatorPredictions(const OperatorRows& rows, const ValidateOptions& options)
      : rows_(rows), options_(options) {}
  // Takes the fit from given, shipped or related ones. Not with a hold-out.
  void choose(CostFits& fits);
  // With a hold-out: fits the rows that are not held, and marks the held ones as those to score.
  void fit_the_others();
  // Fills seconds(), inside() and, where neighbours count or are asked, their table.
  void predict();

  const OperatorKey& key() const { return rows_.key; }
  bool has_model() const { return model_.has_value(); }
  bool is_scored(std::size_t row) const { return scored_.empty() || scored_[row]; }
  double seconds(std::size_t row) const { return seconds_[row]; }
  bool has_quantiles() const { return fit_.log_quantiles.size() == 5; }
  // Whether the measured time lies inside the fit's 5-95 % residuals.
  bool inside(std::size_t row) const;
  const std::string& source() const { return source_; }
  const std::string& donor() const { return donor_; }
  // Why a row may be as far off as it is.
  std::string reason(std::size_t row) const;

 private:
  void adopt(const cost::OperatorFit& fit, std::string source);
  void build_neighbours();

  const OperatorRows& rows_;
  const ValidateOptions& options_;
  cost::OperatorFit fit_;
  std::optional<cost::OperatorModel> model_;
  std::string source_, donor_;
  std::vector<char> scored_;     // by row; empty: all
  std::vector<double> seconds_;  // by row
  std::optional<Neighbours> neighbours_;
  std::vector<std::size_t> among_;  // by row: its place among the neighbours
};

}  // namespace kvsim::calibrate
