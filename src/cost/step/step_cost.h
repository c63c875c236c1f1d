#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cost/library/cost_library.h"
#include "cost/step/fitted_step.h"
#include "spec/catalog.h"

namespace kvsim::cost {

// The catalog's fits by GPU, read when first asked for: those of the GPU itself and of its two
// nearest relatives. Safe from several threads; the catalog must outlive it, and it what it
// answers.
class CostBook {
 public:
  explicit CostBook(const spec::Catalog& catalog) : catalog_(catalog) {}
  const CostLibrary& of(const spec::GpuSpec& gpu) const;

 private:
  const spec::Catalog& catalog_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<const CostLibrary>> known_;
};

// The constants of an entry for a model of `layers` layers.
HostProfile host_of(const HostEntry& entry, double layers);
// The host constants of a deployment: the known ones of its framework, GPU, precision and model,
// those of other models scaled by the layers.
HostProfile known_host(const spec::ModelSpec& model, const spec::GpuSpec& gpu, Framework framework,
                       std::string_view version);

// Fitted step times where the library has fits for the model, the datasheet's roofline otherwise.
std::unique_ptr<CostModel> make_step_cost(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                                          const FittedOptions& options, const CostLibrary* library);

}  // namespace kvsim::cost
