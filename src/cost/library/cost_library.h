#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/operators/operator_fit.h"
#include "cost/operators/operator_model.h"
#include "spec/catalog.h"

namespace kvsim::cost {

// How near a chosen fit is to what was asked for.
enum class Kinship {
  own,        // this GPU, this framework, this operand format
  framework,  // this GPU, another framework's kernel
  format,     // this GPU, a fit of other operands with this one's bytes
  relative,   // another GPU of the architecture, scaled by datasheets
  distant     // a GPU of another architecture, scaled
};
inline constexpr std::array<std::string_view, 5> kinship_names{
    "own measurements", "another framework's measurements", "measurements of another format",
    "a sister GPU's measurements, scaled", "another architecture's measurements, scaled"};
// Standard deviation of log(measured / predicted) that the distance adds to a fit's own spread.
double kinship_sigma(Kinship k);

// What an operator of a step looks for. Empty fields take any.
struct OperatorQuery {
  std::string_view kernel, dtype, kv_dtype, regime;
  std::string_view backend;  // a part of its name
  // Frameworks in order of preference; others follow.
  std::vector<std::string_view> frameworks;
};

struct ChosenOperator {
  OperatorModel model;
  const OperatorFit* fit;  // in the library's files
  const CostFile* file;
  const spec::GpuSpec* gpu;  // that it was measured on
  Kinship kinship;
  double log_sigma;     // spread of the fit about its own measurements
  double shared_sigma;  // what its kinship adds: an error that all operators of a step share
};

// The fits at hand, and which of them stands for an operator on a GPU. Deterministic: prefers own
// measurements, then the kinship's order, then the framework's, then more rows.
class CostLibrary {
 public:
  CostLibrary(const spec::Catalog& catalog, std::vector<CostFile> files);
  std::optional<ChosenOperator> choose(const spec::GpuSpec& gpu, const OperatorQuery& query) const;
  const std::vector<CostFile>& files() const { return files_; }

 private:
  std::vector<CostFile> files_;
  std::vector<spec::GpuSpec> gpus_;  // of the files
};

}  // namespace kvsim::cost
