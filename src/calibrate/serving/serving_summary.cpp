#include "calibrate/serving/serving_summary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace kvsim::calibrate {
namespace {

constexpr double ninety = 1.645;  // deviations that hold nine of ten

double quantile(std::vector<double> v, double share) {
  if (v.empty()) return 0;
  std::ranges::sort(v);
  const double at = share * static_cast<double>(v.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, v.size() - 1);
  return v[low] + (at - static_cast<double>(low)) * (v[high] - v[low]);
}

// The spread that makes the interval of nine in ten as wide as the errors of these figures.
double discrepancy_of(const std::vector<const ServedFigure*>& figures) {
  std::vector<double> logs, sigmas;
  for (const ServedFigure* f : figures) {
    logs.push_back(std::abs(std::log(f->predicted / f->measured)));
    sigmas.push_back(f->kernel_sigma);
  }
  const double total = quantile(logs, 0.9) / ninety, kernels = quantile(sigmas, 0.5);
  return std::sqrt(std::max(0.0, total * total - kernels * kernels));
}

ServingSummary summary_of(const std::vector<const ServedFigure*>& figures) {
  ServingSummary out;
  out.n = static_cast<std::int64_t>(figures.size());
  std::vector<double> ape, signs;
  for (const ServedFigure* f : figures) {
    const double e = f->predicted / f->measured - 1;
    ape.push_back(std::abs(e)), signs.push_back(e);
    out.within_20 += std::abs(e) <= 0.2 ? 1 : 0;
  }
  out.within_20 /= static_cast<double>(out.n);
  out.median_ape = quantile(ape, 0.5), out.bias = quantile(signs, 0.5);
  // Groups in order of their names, every other one fitted.
  std::set<std::string> names;
  for (const ServedFigure* f : figures) names.insert(f->group);
  std::map<std::string, std::size_t> order;
  for (const std::string& name : names) order.emplace(name, order.size());
  std::vector<const ServedFigure*> fitted, judged;
  for (const ServedFigure* f : figures) (order[f->group] % 2 == 0 ? fitted : judged).push_back(f);
  out.discrepancy = discrepancy_of(fitted);
  if (judged.empty()) return out;
  double inside = 0;
  for (const ServedFigure* f : judged)
    inside += std::abs(std::log(f->predicted / f->measured)) <=
                      ninety * std::hypot(f->kernel_sigma, out.discrepancy)
                  ? 1
                  : 0;
  out.coverage_90 = inside / static_cast<double>(judged.size());
  return out;
}

}  // namespace

std::vector<ServingSummary> summarise_serving(const std::vector<ServedFigure>& figures) {
  std::map<std::pair<std::string, std::string>, std::vector<const ServedFigure*>> parts;
  for (const ServedFigure& f : figures) parts[{f.part, f.kernel}].push_back(&f);
  std::vector<ServingSummary> out;
  for (const auto& [key, members] : parts) {
    out.push_back(summary_of(members));
    out.back().part = key.first, out.back().kernel = key.second;
  }
  return out;
}

}  // namespace kvsim::calibrate
