#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/measurements/files.h"
#include "calibrate/serving/serving_predictions.h"
#include "calibrate/serving/serving_summary.h"
#include "calibrate/skipped.h"
#include "cost/operators/operator_fit.h"
#include "spec/catalog.h"

// Predicted against measured. Errors are fractions of the measured value.
namespace kvsim::calibrate {

struct ErrorSummary {
  std::int64_t n = 0;
  double mape = 0, median_ape = 0, p90_ape = 0;  // of |predicted - measured| / measured
  double bias = 0;                               // mean of (predicted - measured) / measured
};

struct GroupErrors {
  std::string kernel, gpu, framework, dtype, kv_dtype,
      regime;  // the last two "" where a file has none
  ErrorSummary errors;
  // Where the predictions come from: "measured", "fitted", "transferred", "datasheet"; several with
  // commas.
  std::string source;
  std::string donor;                        // the GPU that transferred fits are of
  std::optional<double> coverage_90;        // share of the rows inside the fit's 5-95 % residuals
  std::optional<double> target, reference;  // targets.h, of the mean error
};

struct Point {
  std::size_t group = 0;               // in groups
  std::string place;                   // "file:line"
  double measured = 0, predicted = 0;  // seconds, or tokens per second and GPU
};

struct WorstRow {
  std::size_t point = 0;  // in points
  std::string reason;     // what stands behind so large an error
};

struct Condition {
  std::string kernel, text;
};

struct Validation {
  std::int64_t rows = 0;            // read from the files
  std::vector<GroupErrors> groups;  // by kernel, GPU, framework, dtypes, regime
  ErrorSummary overall;
  std::vector<SkippedRows> skipped;  // by kernel, most frequent first
  std::vector<Condition> conditions;
  std::vector<Point> points;    // in file order
  std::vector<WorstRow> worst;  // the largest errors first
  std::string source = "datasheet";
  double holdout = 0;                             // share of the rows that was scored; 0: all
  std::int64_t held_out = 0;                      // rows that were scored by fits to the others
  std::vector<ServingSummary> serving;            // of end-to-end figures
  std::vector<ServingPredictions::Fitted> hosts;  // constants fitted to some of the runs
};

enum class Predictions {
  fitted,     // given and shipped fits, where there is one for the row's labels; else datasheet
  datasheet,  // the roofline of the datasheet
  relatives,  // fits of the nearest other GPU, carried over by datasheet ratios
};
enum class CostMode {
  fit,
  table,  // and what measured points nearby leave over of it
};

struct ValidateOptions {
  Predictions predictions = Predictions::fitted;
  CostMode mode = CostMode::fit;
  std::vector<cost::CostFile> cost;  // before those of the catalog
  // Above 0: forms are fitted to the rows that are not held out, and the held ones are scored.
  double holdout = 0;
  std::uint64_t seed = 1;
  std::string model;                          // serving runs of this model only; "" = all
  HostConstants host = HostConstants::known;  // of serving runs
  std::size_t worst = 10;
  std::function<void()> poll;  // called now and then on the caller's thread; may throw to stop
};

// Reads measurement files (CSV or kvbench JSON, recognised by content) and predicts every figure in
// them. Throws InputError with every bad cell; of paths also IoError.
Validation validate(std::vector<MeasurementFile> files, const spec::Catalog& catalog,
                    const ValidateOptions& options = {});
Validation validate(const std::vector<std::string>& paths, const spec::Catalog& catalog,
                    const ValidateOptions& options = {});

// Mean, median (of even counts the mean of the middle two), 90th percentile by linear
// interpolation.
ErrorSummary summarise(const std::vector<double>& signed_errors);

}  // namespace kvsim::calibrate
