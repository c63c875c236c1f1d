#include "calibrate/predict/cost_fits.h"

#include <algorithm>

#include "config/document.h"
#include "cost/library/cost_document.h"
#include "cost/library/transfer.h"

namespace kvsim::calibrate {
namespace {

bool same_work(const OperatorKey& a, const OperatorKey& b) {
  return a.kernel == b.kernel && a.dtype == b.dtype && a.kv_dtype == b.kv_dtype &&
         a.regime == b.regime;
}

// How much has to be overlooked; backends differ more than versions.
int distance(const OperatorKey& a, const OperatorKey& b) {
  return 4 * (a.framework != b.framework) + 2 * (a.backend != b.backend) + (a.version != b.version);
}

}  // namespace

CostFits::CostFits(const spec::Catalog& catalog, Gpus& gpus, std::vector<cost::CostFile> given)
    : catalog_(catalog), gpus_(gpus) {
  for (cost::CostFile& file : given) add(std::move(file));
}

void CostFits::add(cost::CostFile file) {
  for (cost::OperatorFit& f : file.operators) {
    if (f.errors.n == 0) continue;  // an assumption: it was not held against any row
    OperatorKey key{f.kernel, gpus_.id(file.gpu), file.framework, file.version, f.backend,
                    f.dtype,  f.kv_dtype,         f.regime};
    // The first one wins: files that were given stand before those of the catalog.
    auto& entry = entries_[key];
    if (!entry) entry = std::make_unique<Entry>(Entry{std::move(key), std::move(f)});
  }
}

void CostFits::load(const std::string& gpu) {
  if (!loaded_.insert(gpu).second) return;
  for (const spec::Catalog::CostText& text : catalog_.cost_texts())
    if (gpus_.id(std::string(text.gpu)) == gpu)
      add(cost::read_cost(
          config::Document::parse(std::string(text.text), std::string(text.name),
                                  config::Comments::allowed),
          text.is_embedded ? cost::Mismatched::left_out : cost::Mismatched::refused));
}

const cost::OperatorFit* CostFits::find(const OperatorKey& key) {
  load(key.gpu);
  if (const auto exact = entries_.find(key); exact != entries_.end()) return &exact->second->fit;
  const Entry* best = nullptr;
  for (const auto& [other, entry] : entries_)
    if (other.gpu == key.gpu && other.framework == key.framework && same_work(other, key) &&
        (!best || distance(other, key) < distance(best->key, key)))
      best = entry.get();
  return best ? &best->fit : nullptr;
}

std::optional<CostFits::Relative> CostFits::from_relative(const OperatorKey& key,
                                                          const cost::Device& device) {
  for (const spec::Catalog::CostText& text : catalog_.cost_texts())
    load(gpus_.id(std::string(text.gpu)));
  const Entry* best = nullptr;
  double nearest = 0;
  for (const auto& [other, entry] : entries_) {
    const spec::GpuSpec* gpu = gpus_.find(other.gpu);
    // A test bed that is wired otherwise than its GPU is nobody's relative.
    if (other.gpu == key.gpu || !gpu || gpu->id != other.gpu || !same_work(other, key)) continue;
    // Another framework's kernels are farther away than an architecture.
    const double away =
        cost::transfer_distance(cost::device_of(*gpu), device) + distance(other, key);
    if (!best || away < nearest) best = entry.get(), nearest = away;
  }
  if (!best) return std::nullopt;
  return Relative{best->key,
                  cost::transfer(best->fit, cost::device_of(*gpus_.find(best->key.gpu)), device)};
}

}  // namespace kvsim::calibrate
