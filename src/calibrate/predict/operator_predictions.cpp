#include "calibrate/predict/operator_predictions.h"

#include <fmt/format.h>

#include <cmath>

#include "calibrate/profile/calibration.h"

namespace kvsim::calibrate {
namespace {

constexpr std::size_t fewest_to_fit = 6;
constexpr std::int64_t few_rows = 60;  // a fit to fewer is named as a reason

}  // namespace

void OperatorPredictions::adopt(const cost::OperatorFit& fit, std::string source) {
  fit_ = fit;
  model_.emplace(fit_, rows_.device);
  source_ = std::move(source);
}

void OperatorPredictions::choose(CostFits& fits) {
  if (options_.predictions == Predictions::relatives) {
    if (auto relative = fits.from_relative(rows_.key, rows_.device)) {
      adopt(relative->fit, "transferred");
      donor_ = relative->key.gpu;
    }
  } else if (const cost::OperatorFit* fit = fits.find(rows_.key)) {
    adopt(*fit, "fitted");
  }
}

void OperatorPredictions::fit_the_others() {
  const Training parts = split(rows_, options_.holdout, options_.seed);
  scored_.assign(rows_.samples.size(), 0);
  for (const std::size_t row : parts.held_rows) scored_[row] = 1;
  if (parts.kept.size() < fewest_to_fit || parts.held.empty()) return;
  FitOptions options;
  options.roofline_competes = rows_.key.framework == kvbench_framework;
  adopt(fit_operator(rows_.key.kernel, parts.kept, rows_.device, options), "fitted");
}

void OperatorPredictions::predict() {
  if (!model_) return;
  seconds_.resize(rows_.samples.size());
  for (std::size_t i = 0; i < seconds_.size(); ++i)
    if (is_scored(i))
      seconds_[i] = 1e-6 * model_->microseconds(rows_.samples[i].shape, rows_.samples[i].buffers);
  build_neighbours();
  if (options_.mode != CostMode::table) return;
  for (std::size_t i = 0; i < seconds_.size(); ++i)
    if (is_scored(i))
      seconds_[i] *= std::exp(
          neighbours_->log_ratio(model_->form().features(rows_.samples[i].shape), among_[i]));
  source_ = "measured";
}

// Rows that are scored may not answer for themselves: with a hold-out only the others are
// neighbours, without one each row leaves itself out.
void OperatorPredictions::build_neighbours() {
  std::vector<cost::Features> at;
  std::vector<double> ratios;
  among_.assign(rows_.samples.size(), Neighbours::nobody);
  for (std::size_t i = 0; i < rows_.samples.size(); ++i) {
    if (!scored_.empty() && scored_[i]) continue;
    const Sample& s = rows_.samples[i];
    among_[i] = at.size();
    at.push_back(model_->form().features(s.shape));
    ratios.push_back(
        std::log(s.microseconds / model_->microseconds(s.shape, cost::Buffers::replayed)));
  }
  neighbours_.emplace(std::move(at), std::move(ratios), model_->form().feature_names.size());
}

bool OperatorPredictions::inside(std::size_t row) const {
  const double log = std::log(1e-6 * rows_.samples[row].microseconds / seconds_[row]);
  return log >= fit_.log_quantiles.front() && log <= fit_.log_quantiles.back();
}

std::string OperatorPredictions::reason(std::size_t row) const {
  if (!model_) return "no fit for its labels: datasheet";
  const Sample& s = rows_.samples[row];
  std::vector<std::string> reasons;
  if (const double octaves = model_->octaves_outside(s.shape); octaves > 0.05)
    reasons.push_back(fmt::format("{:.1f} octaves outside the calibrated range", octaves));
  const double own = std::log(s.microseconds / model_->microseconds(s.shape, s.buffers));
  const Neighbours::Look near = neighbours_->look(model_->form().features(s.shape), among_[row]);
  if (near.points >= 3 && near.distance < 1.5) {
    if (std::abs(own - near.median) > 0.6 * std::abs(own))
      reasons.push_back(fmt::format("outlier: its neighbours are {:+.0f}% off",
                                    100 * (std::exp(-near.median) - 1)));
    else
      reasons.push_back("its neighbours are off alike: the form misses this corner");
  } else if (near.points > 0) {
    reasons.push_back("no measured neighbour within 1.5 octaves");
  }
  const double warm = model_->microseconds(s.shape, s.buffers),
               cold = model_->microseconds(s.shape, cost::Buffers::cold);
  if (warm < 0.85 * cold)
    reasons.push_back(fmt::format("L2-warm: {:.0f}% under cold", 100 * (1 - warm / cold)));
  if (fit_.errors.n > 0 && fit_.errors.n < few_rows)
    reasons.push_back(fmt::format("small n: the fit had {} rows", fit_.errors.n));
  if (!donor_.empty()) reasons.push_back("carried over from " + donor_);
  return fmt::format("{}", fmt::join(reasons, "; "));
}

}  // namespace kvsim::calibrate
