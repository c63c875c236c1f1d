#pragma once
#include <cstdint>
#include <string>
#include <vector>

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
};

struct SkippedRows {
  std::string kernel, reason;
  std::int64_t n = 0;
  std::string first;  // "file:line" of the first one
};

struct Point {
  std::size_t group = 0;               // in groups
  std::string place;                   // "file:line"
  double measured = 0, predicted = 0;  // seconds, or tokens per second and GPU
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
  std::vector<Point> points;  // in file order
  std::string source = "datasheet";
};

// The text of a measurement file; `name` is what errors call it.
struct MeasurementFile {
  std::string name, text;
};

// Reads measurement files (CSV or kvbench JSON, recognised by content) and predicts every figure in
// them. Throws InputError with every bad cell; of paths also IoError.
Validation validate(std::vector<MeasurementFile> files, const spec::Catalog& catalog);
Validation validate(const std::vector<std::string>& paths, const spec::Catalog& catalog);

// Mean, median (of even counts the mean of the middle two), 90th percentile by linear
// interpolation.
ErrorSummary summarise(const std::vector<double>& signed_errors);

}  // namespace kvsim::calibrate
