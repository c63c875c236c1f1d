#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/table.h"
#include "report/validation.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using calibrate::Validation;

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f}%", 100 * share); }
bool is_rate(const std::string& kernel) { return kernel == "e2e_throughput"; }
std::string amount(const std::string& kernel, double value) {
  return is_rate(kernel) ? format_significant(value) + " tok/s"
                         : format_duration(to_duration(value));
}

std::string dtypes(const calibrate::GroupErrors& g) {
  return g.kv_dtype.empty() || g.kv_dtype == g.dtype ? g.dtype : g.dtype + "/" + g.kv_dtype;
}

std::string groups(const Validation& v) {
  Table t({{"kernel", Align::left},
           {"regime", Align::left},
           {"GPU", Align::left},
           {"framework", Align::left},
           {"dtype", Align::left},
           {"n", Align::right},
           {"MAPE", Align::right},
           {"median", Align::right},
           {"p90", Align::right},
           {"bias", Align::right}});
  std::string last;
  for (const auto& g : v.groups) {
    if (!last.empty() && last != g.kernel) t.rule();
    last = g.kernel;
    t.row({g.kernel, g.regime, g.gpu, g.framework, dtypes(g), format_integer(g.errors.n),
           percent(g.errors.mape), percent(g.errors.median_ape), percent(g.errors.p90_ape),
           signed_percent(g.errors.bias)});
  }
  if (v.groups.empty()) return "No row could be predicted.\n";
  t.rule();
  t.row({"overall", "", "", "", "", format_integer(v.overall.n), percent(v.overall.mape),
         percent(v.overall.median_ape), percent(v.overall.p90_ape),
         signed_percent(v.overall.bias)});
  return t.text(0, 140);
}

std::string worst_rows(const Validation& v, std::size_t count) {
  std::vector<std::size_t> order(v.points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto error = [&](std::size_t i) {
    return std::abs(v.points[i].predicted / v.points[i].measured - 1);
  };
  const std::size_t shown = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return error(a) != error(b) ? error(a) > error(b) : a < b;
                    });
  Table t({{"kernel", Align::left},
           {"GPU", Align::left},
           {"measured", Align::right},
           {"predicted", Align::right},
           {"error", Align::right},
           {"row", Align::left}});
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& p = v.points[order[i]];
    const auto& g = v.groups[p.group];
    t.row({g.kernel, g.gpu, amount(g.kernel, p.measured), amount(g.kernel, p.predicted),
           signed_percent(p.predicted / p.measured - 1), p.place});
  }
  return t.text(0, 140);
}

std::string skipped(const Validation& v) {
  Table t({{"kernel", Align::left},
           {"n", Align::right},
           {"why it was not predicted", Align::left},
           {"first", Align::left}});
  for (const auto& s : v.skipped) t.row({s.kernel, format_integer(s.n), s.reason, s.first});
  return t.text(0, 140);
}

}  // namespace

std::string validation_text(const Validation& v, std::size_t worst) {
  std::string out = fmt::format("Predicted against measured, from the {}: {} rows\n\n", v.source,
                                format_integer(v.rows));
  out += groups(v);
  if (!v.points.empty() && worst > 0) out += "\nWorst rows\n" + worst_rows(v, worst);
  if (!v.skipped.empty()) out += "\nNot predicted\n" + skipped(v);
  if (!v.conditions.empty()) {
    out += "\nPredicted under the condition of the measurement\n";
    for (const auto& c : v.conditions) out += fmt::format("  {}: {}\n", c.kernel, c.text);
  }
  return out;
}

}  // namespace kvsim::report
