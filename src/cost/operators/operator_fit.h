#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "config/fields.h"
#include "cost/operators/residual_table.h"

// Fitted operators as files hold them (schema kvsim.cost/1): one file per GPU, framework and
// version under models/cost/, or whatever `kvsim calibrate` wrote.
namespace kvsim::cost {

struct FitErrors {
  std::int64_t n = 0;
  double mape = 0, median_ape = 0, p90_ape = 0, bias = 0;  // fractions of the measured time
};

struct OperatorFit {
  std::string kernel, backend, dtype, kv_dtype, regime;  // as measurement files spell them
  std::string form;
  std::vector<std::string> parameter_names;
  std::vector<double> parameters;
  std::vector<double> covariance;  // of their logarithms, lower triangle by rows; empty = unknown
  std::vector<ResidualTable> tables;
  std::vector<double> low, high;      // calibrated range of each feature
  FitErrors errors;                   // over the rows it was fitted to
  FitErrors holdout;                  // over rows left out of a fit of its own; n = 0: none
  double log_sigma = 0;               // robust spread of log(measured / predicted)
  std::vector<double> log_quantiles;  // of log(measured / predicted) at 5, 25, 50, 75, 95 %
};

struct CostFile {
  std::string id;  // "h100-sxm.vllm-0.24.0"
  std::string gpu, framework, version;
  std::vector<std::string> sources;
  std::vector<OperatorFit> operators;
  bool is_given = false;  // by the user: stands before the catalog's; not part of the document
};

inline constexpr std::string_view cost_schema = "kvsim.cost/1";
void fields(config::FieldVisitor& v, FitErrors& e);
void fields(config::FieldVisitor& v, OperatorFit& f);
void fields(config::FieldVisitor& v, CostFile& f);

}  // namespace kvsim::cost
