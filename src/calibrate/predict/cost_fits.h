#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calibrate/fit/fit.h"
#include "calibrate/predict/gpus.h"
#include "cost/operators/operator_fit.h"

namespace kvsim::calibrate {

// The fitted operators that rows are predicted with: those of files that were given, then those of
// the catalog; operators that state an assumption (no rows) are none. A GPU's files are read when
// its first row asks.
class CostFits {
 public:
  CostFits(const spec::Catalog& catalog, Gpus& gpus, std::vector<cost::CostFile> given);

  // The fit for exactly these labels; else one of the same framework, kernel, dtypes and regime
  // that differs in the version alone, then in the backend too. Null: none.
  const cost::OperatorFit* find(const OperatorKey& key);

  // A fit of the nearest other GPU that has the kernel, dtypes and regime (the same framework and
  // backend first), carried over to `device`. `key` is its own.
  struct Relative {
    OperatorKey key;
    cost::OperatorFit fit;
  };
  std::optional<Relative> from_relative(const OperatorKey& key, const cost::Device& device);

 private:
  struct Entry {
    OperatorKey key;
    cost::OperatorFit fit;
  };
  void load(const std::string& gpu);
  void add(cost::CostFile file);

  const spec::Catalog& catalog_;
  Gpus& gpus_;
  std::set<std::string> loaded_;  // GPUs whose catalog files have been read
  std::map<OperatorKey, std::unique_ptr<Entry>> entries_;
};

}  // namespace kvsim::calibrate
