#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/profile/operator_rows.h"
#include "calibrate/skipped.h"
#include "cost/operators/operator_fit.h"

// From measurement files to fitted cost files, with everything that says how far to trust them.
namespace kvsim::calibrate {

struct CalibrateOptions {
  std::string gpu;        // catalog id: only its rows, and those whose GPU is no catalog word
  double holdout = 0.33;  // share of the rows whose error is measured by a fit to the others
  std::uint64_t seed = 1;
  std::vector<std::string> sources;                                 // besides the files' names
  std::function<void(std::size_t done, std::size_t all)> progress;  // may throw to stop
};

// A row far from its fit; factor = measured / fitted.
struct Outlier {
  std::string place;
  double measured_us = 0, fitted_us = 0;
  double factor() const { return measured_us / fitted_us; }
};

// Errors of the rows that took about as long: under 20 us, to 200 us, above.
struct Regime {
  std::string name;
  cost::FitErrors errors;
};

struct OperatorCalibration {
  OperatorKey key;
  cost::OperatorFit fit;     // to all rows; fit.holdout is of the fit without the held ones
  cost::FitErrors roofline;  // of a fitted roofline, over the same rows as fit.holdout
  double coverage = 0;       // share of the held-out rows inside the first fit's 5-95 % residuals
  std::vector<Regime> regimes;  // in-sample, those with rows
  std::int64_t outliers = 0;    // rows over 1.5 times off either way
  std::vector<Outlier> worst;   // of those, the worst first, at most five
};

struct Calibration {
  std::int64_t rows = 0;
  std::vector<OperatorCalibration> operators;  // by key
  std::vector<cost::CostFile> files;           // one per GPU, framework and version
  std::vector<SkippedRows> skipped;
  std::vector<std::string>
      renamed;  // GPUs of rows that are no catalog word and count as options.gpu
};

// Fits every operator of the files, on two threads. Deterministic. Throws InputError.
Calibration fit_measurements(std::vector<MeasurementFile> files, const spec::Catalog& catalog,
                             const CalibrateOptions& options);

// One operator: a fit to the rows that are not held out scores those that are, then all rows are
// fitted. The held rows have no influence on the figures of the first fit; the spread that goes
// into files (log_sigma, log_quantiles) is that of the held rows.
OperatorCalibration calibrate_operator(const OperatorRows& rows, double holdout,
                                       std::uint64_t seed);

// The fit to the rows of a group that are not held out, and the numbers of those that are.
struct Training {
  std::vector<Sample> kept, held;
  std::vector<std::size_t> held_rows, kept_rows;
};
Training split(const OperatorRows& rows, double holdout, std::uint64_t seed);

// "h100-sxm.vllm-0.24.0": what a cost file of that GPU, framework and version is called.
std::string profile_id(const OperatorKey& key);

}  // namespace kvsim::calibrate
