#include "cost/library/cost_library.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <tuple>

#include "cost/library/transfer.h"

namespace kvsim::cost {
namespace {

std::string_view canonical(std::string_view dtype) { return dtype == "bfloat16" ? "bf16" : dtype; }

bool matches(std::string_view wanted, std::string_view has) {
  return wanted.empty() || canonical(wanted) == canonical(has);
}

// "blackwell" of "blackwell-ultra": its kernels are the same.
std::string_view family(const spec::GpuSpec& gpu) {
  return std::string_view(gpu.architecture).substr(0, gpu.architecture.find('-'));
}

// A patched copy of a catalog GPU keeps its name; its measurements are the catalog's.
bool same_part(const spec::GpuSpec& a, const spec::GpuSpec& b) {
  if (a.id != b.id || a.link_bandwidth != b.link_bandwidth) return false;
  const Device x = device_of(a), y = device_of(b);
  return x.sms == y.sms && x.l2_mb == y.l2_mb && x.bandwidth == y.bandwidth && x.bf16 == y.bf16 &&
         x.fp8 == y.fp8 && x.fp4 == y.fp4 && x.int8 == y.int8;
}

}  // namespace

double kinship_sigma(Kinship k) {
  switch (k) {
    case Kinship::own:
      return 0;
    case Kinship::framework:
      return 0.12;
    case Kinship::format:
      return 0.15;
    case Kinship::relative:
    case Kinship::distant:
      return 0;  // in the moved fit's own spread
  }
  return 0;
}

CostLibrary::CostLibrary(const spec::Catalog& catalog, std::vector<CostFile> files)
    : files_(std::move(files)) {
  for (const CostFile& f : files_) gpus_.push_back(catalog.gpu(f.gpu));
}

std::optional<ChosenOperator> CostLibrary::choose(const spec::GpuSpec& gpu,
                                                  const OperatorQuery& q) const {
  const Device device = device_of(gpu);
  struct Rank {
    Kinship kinship;
    double distance;
    std::size_t framework;
    std::int64_t fewer;  // rows, negative
    auto key() const { return std::tuple(kinship, distance, framework, fewer); }
  };
  std::optional<Rank> best;
  const OperatorFit* fit = nullptr;
  std::size_t from = 0;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const bool here = same_part(gpus_[i], gpu);
    const bool sister = family(gpus_[i]) == family(gpu);
    const auto place = std::ranges::find(q.frameworks, std::string_view(files_[i].framework));
    const auto order = static_cast<std::size_t>(place - q.frameworks.begin());
    for (const OperatorFit& f : files_[i].operators) {
      if (f.kernel != q.kernel || !matches(q.regime, f.regime)) continue;
      if (!q.backend.empty() && f.backend.find(q.backend) == std::string::npos) continue;
      const bool format = matches(q.dtype, f.dtype) && matches(q.kv_dtype, f.kv_dtype);
      // Another format stands in only on the GPU itself: elsewhere two guesses would add up.
      if (!format && !here) continue;
      // What the user measured on this part stands before the catalog, whatever it is called.
      const bool given = files_[i].is_given && here && format;
      const Rank rank{given       ? Kinship::own
                      : !here     ? (sister ? Kinship::relative : Kinship::distant)
                      : !format   ? Kinship::format
                      : order > 0 ? Kinship::framework
                                  : Kinship::own,
                      here ? 0 : transfer_distance(device_of(gpus_[i]), device), given ? 0 : order,
                      given ? std::numeric_limits<std::int64_t>::min() : -f.errors.n};
      if (best && !(rank.key() < best->key())) continue;
      best = rank, fit = &f, from = i;
    }
  }
  if (!best) return std::nullopt;
  const bool scaled = best->kinship == Kinship::relative || best->kinship == Kinship::distant;
  OperatorFit adapted = scaled ? transfer(*fit, device_of(gpus_[from]), device) : *fit;
  const double shared = std::hypot(kinship_sigma(best->kinship),
                                   std::sqrt(std::max(0.0, adapted.log_sigma * adapted.log_sigma -
                                                               fit->log_sigma * fit->log_sigma)));
  return ChosenOperator{OperatorModel(adapted, device),
                        fit,
                        &files_[from],
                        &gpus_[from],
                        best->kinship,
                        fit->log_sigma,
                        shared};
}

}  // namespace kvsim::cost
