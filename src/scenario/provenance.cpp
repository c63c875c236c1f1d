#include "scenario/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace kvsim::scenario {
namespace {

template <class Names, class Parts>
std::string longest(const Names& names, const Parts& parts) {
  return std::string(
      names[static_cast<std::size_t>(std::ranges::max_element(parts) - parts.begin())]);
}

}  // namespace

void add_provenance(metrics::EngineResult& e, const engine::Engine::Totals& t) {
  const double busy = e.busy_s;
  if (busy <= 0) return;
  if (e.constant_s > 0) {
    const std::string word(cost::source_names[static_cast<std::size_t>(cost::Source::constant)]);
    e.operators = {{"step", busy, 1, e.steps, word, word}};
    return;
  }
  double sum = 0;  // busy but for rounding
  for (const double part : t.times.by_source) sum += part;
  if (sum <= 0) return;
  const auto share = [&](cost::Source of) {
    return t.times.by_source[static_cast<std::size_t>(of)] / sum;
  };
  e.measured_ratio = share(cost::Source::measured);
  e.fitted_ratio = share(cost::Source::fitted);
  e.datasheet_ratio = share(cost::Source::datasheet);
  e.outside_range_ratio = std::min(t.times.outside_s / sum, 1.0);
  e.octaves_outside = t.times.octaves_outside;
  e.step_time_low_ratio = t.times.low_ratio;
  e.step_time_high_ratio = t.times.high_ratio;
  for (const engine::OperatorUse& op : t.times.operators)
    e.operators.push_back({op.name, op.seconds, op.seconds / busy, std::llround(op.calls),
                           longest(cost::binds_names, op.by_binds),
                           longest(cost::source_names, op.by_source)});
  std::ranges::stable_sort(e.operators, std::ranges::greater{}, &metrics::OperatorShare::seconds);
}

void warn_outside(metrics::RunResult& result) {
  constexpr double much = 0.05;
  struct Sum {
    double busy = 0, outside = 0, octaves = 0;
  };
  std::map<int, Sum> pools;
  for (const metrics::EngineResult& e : result.engines) {
    Sum& sum = pools[e.pool_index];
    sum.busy += e.busy_s;
    sum.outside += e.outside_range_ratio * e.busy_s;
    sum.octaves = std::max(sum.octaves, e.octaves_outside);
  }
  for (const metrics::EngineResult& e : result.engines) {
    const Sum& sum = pools[e.pool_index];
    if (!e.first_of_pool() || sum.outside <= much * sum.busy) continue;
    result.warnings.push_back(fmt::format(
        "{:.0f} % of the busy time of pool {} goes into operators outside the shapes "
        "that were measured (by up to a factor of {:.3g}): their times are extrapolated",
        100 * sum.outside / sum.busy, e.pool, std::exp2(sum.octaves)));
  }
}

}  // namespace kvsim::scenario
