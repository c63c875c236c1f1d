#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/table.h"
#include "report/validation.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using calibrate::Validation;

constexpr std::size_t width = 160;

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

std::string optional_percent(const std::optional<double>& share) {
  return share ? percent(*share) : "";
}

std::string source_of(const calibrate::GroupErrors& g) {
  return g.donor.empty() ? g.source : fmt::format("{} from {}", g.source, g.donor);
}

std::string groups(const Validation& v) {
  Table t({{"kernel", Align::left},
           {"regime", Align::left},
           {"GPU", Align::left},
           {"framework", Align::left},
           {"dtype", Align::left},
           {"from", Align::left},
           {"n", Align::right},
           {"MAPE", Align::right},
           {"", Align::left},
           {"median", Align::right},
           {"p90", Align::right},
           {"bias", Align::right},
           {"in 90%", Align::right},
           {"reference", Align::right}});
  std::string last;
  for (const auto& g : v.groups) {
    if (!last.empty() && last != g.kernel) t.rule();
    last = g.kernel;
    t.row({g.kernel, g.regime, g.gpu, g.framework, dtypes(g), source_of(g),
           format_integer(g.errors.n), percent(g.errors.mape),
           g.target && g.errors.mape > *g.target ? fmt::format("> {:.3g}%", 100 * *g.target) : "",
           percent(g.errors.median_ape), percent(g.errors.p90_ape), signed_percent(g.errors.bias),
           optional_percent(g.coverage_90), optional_percent(g.reference)});
  }
  if (v.groups.empty()) return "No row could be predicted.\n";
  t.rule();
  t.row({"overall", "", "", "", "", "", format_integer(v.overall.n), percent(v.overall.mape), "",
         percent(v.overall.median_ape), percent(v.overall.p90_ape), signed_percent(v.overall.bias),
         "", ""});
  return t.text(0, width);
}

// Kernels over all GPUs beside what they are meant to reach; products apart by width of format.
std::string targets(const Validation& v) {
  struct Sum {
    double n = 0, error = 0;
  };
  std::map<std::pair<std::string, double>, Sum> kernels;
  for (const auto& g : v.groups) {
    if (!g.target) continue;
    Sum& sum = kernels[{g.kernel, *g.target}];
    const auto n = static_cast<double>(g.errors.n);
    sum.n += n, sum.error += n * g.errors.mape;
  }
  if (kernels.empty()) return "";
  Table t(
      {{"kernel"}, {"n", Align::right}, {"MAPE", Align::right}, {"target", Align::right}, {""}});
  for (const auto& [key, sum] : kernels) {
    const double mape = sum.error / sum.n;
    t.row({key.first, format_integer(static_cast<std::int64_t>(sum.n)), percent(mape),
           fmt::format("{:.3g}%", 100 * key.second), mape > key.second ? "missed" : ""});
  }
  return "\nAgainst the targets (of rows that no fit has seen: --holdout)\n" + t.text(0, width);
}

std::string worst_rows(const Validation& v) {
  Table t({{"kernel", Align::left},
           {"GPU", Align::left},
           {"measured", Align::right},
           {"predicted", Align::right},
           {"error", Align::right},
           {"row", Align::left},
           {"why", Align::left}});
  for (const calibrate::WorstRow& w : v.worst) {
    const auto& p = v.points[w.point];
    const auto& g = v.groups[p.group];
    t.row({g.kernel, g.gpu, amount(g.kernel, p.measured), amount(g.kernel, p.predicted),
           signed_percent(p.predicted / p.measured - 1), p.place, w.reason});
  }
  return t.text(0, width);
}

std::string skipped(const Validation& v) {
  Table t({{"kernel", Align::left},
           {"n", Align::right},
           {"why it was not predicted", Align::left},
           {"first", Align::left}});
  for (const auto& s : v.skipped) t.row({s.kernel, format_integer(s.n), s.reason, s.first});
  return t.text(0, width);
}

std::string origin(const Validation& v) {
  const std::string share =
      v.holdout > 0 ? fmt::format("on {} of the rows ", percent(v.holdout)) : "";
  if (v.held_out > 0) return share + "by fits to the others";
  if (v.source == "datasheet") return share + "from the datasheet";
  return share + "from " + v.source + " operators";
}

}  // namespace

std::string validation_text(const Validation& v) {
  std::string out =
      fmt::format("Predicted against measured, {}: {} rows\n\n", origin(v), format_integer(v.rows));
  out += groups(v) + targets(v) + serving_text(v);
  if (!v.worst.empty()) out += "\nWorst rows\n" + worst_rows(v);
  if (!v.skipped.empty()) out += "\nNot predicted\n" + skipped(v);
  if (!v.conditions.empty()) {
    out += "\nPredicted under the condition of the measurement\n";
    for (const auto& c : v.conditions) out += fmt::format("  {}: {}\n", c.kernel, c.text);
  }
  return out;
}

}  // namespace kvsim::report
