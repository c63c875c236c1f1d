#include "metrics/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "diag/check.h"

namespace kvsim::metrics {
namespace {

// The values of all figures in a fixed order; null for those that are absent.
std::vector<double*> values(Figures& f) {
  const auto optional = [](std::optional<double>& value) { return value ? &*value : nullptr; };
  std::vector<double*> out{&f.duration,
                           &f.request_throughput,
                           optional(f.request_goodput),
                           &f.output_throughput,
                           &f.total_token_throughput,
                           optional(f.offered_rate),
                           &f.max_output_tokens_per_s};
  for (Distribution* d : {&f.ttft_ms, &f.tpot_ms, &f.itl_ms, &f.e2el_ms}) {
    out.insert(out.end(), {&d->mean, &d->median, &d->std});
    for (double& percentile : d->percentiles) out.push_back(&percentile);
  }
  return out;
}

std::vector<std::vector<double*>> values_of(std::vector<Figures>& runs) {
  std::vector<std::vector<double*>> out;
  for (Figures& run : runs) out.push_back(values(run));
  return out;
}

// Half-width for what one value of several seeds is off from their expectation.
double seed_error(double own, std::span<const double> others) {
  if (others.empty()) return 0;
  const auto n = static_cast<double>(others.size() + 1);
  double mean = own / n;
  for (const double x : others) mean += x / n;
  double squares = (own - mean) * (own - mean);
  for (const double x : others) squares += (x - mean) * (x - mean);
  return student_t(static_cast<int>(others.size())) * std::sqrt(squares / (n - 1));
}

}  // namespace

double student_t(int degrees) {
  KVSIM_CHECK(degrees >= 1, "Student's t with {} degrees of freedom", degrees);
  static constexpr std::array table{6.3138, 2.9200, 2.3534, 2.1318, 2.0150,
                                    1.9432, 1.8946, 1.8595, 1.8331, 1.8125};
  if (degrees <= static_cast<int>(table.size()))
    return table[static_cast<std::size_t>(degrees - 1)];
  // Cornish-Fisher expansion about the normal quantile (Abramowitz and Stegun 26.7.5).
  constexpr double z = 1.6448536269514722;
  const double v = degrees;
  return z + (z * z * z + z) / (4 * v) +
         (5 * z * z * z * z * z + 16 * z * z * z + 3 * z) / (96 * v * v);
}

void set_bounds(Summary& summary, std::span<const Figures> ends,
                std::span<const Figures> replicates) {
  std::vector<Figures> other_times(ends.begin(), ends.end()),
      other_seeds(replicates.begin(), replicates.end());
  const auto times = values_of(other_times), seeds = values_of(other_seeds);
  Figures low = summary, high = summary;
  for (const std::vector<Figures>* runs : {&other_times, &other_seeds})
    for (const Figures& run : *runs) {
      if (!run.request_goodput) low.request_goodput = high.request_goodput = std::nullopt;
      if (!run.offered_rate) low.offered_rate = high.offered_rate = std::nullopt;
    }
  const auto own = values(summary), least = values(low), most = values(high);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!least[i]) continue;
    const double value = *own[i];
    for (const auto& run : times) {
      *least[i] = std::min(*least[i], *run[i]);
      *most[i] = std::max(*most[i], *run[i]);
    }
    std::vector<double> others;
    for (const auto& run : seeds) others.push_back(*run[i]);
    const double error = seed_error(value, others);
    if (error <= 0) continue;
    *least[i] = std::max(0.0, value - std::hypot(value - *least[i], error));
    *most[i] = value + std::hypot(*most[i] - value, error);
  }
  summary.low = std::move(low);
  summary.high = std::move(high);
}

}  // namespace kvsim::metrics
