#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "calibrate/targets.h"
#include "report/calibration.h"
#include "report/table.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using calibrate::Calibration;
using calibrate::OperatorCalibration;

constexpr std::size_t width = 160;
constexpr std::size_t shown_outliers = 10;

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }
std::string or_dash(bool known, double share) { return known ? percent(share) : "-"; }
std::string dtypes(const calibrate::OperatorKey& k) {
  return k.kv_dtype.empty() || k.kv_dtype == k.dtype ? k.dtype : k.dtype + "/" + k.kv_dtype;
}
std::string words(std::initializer_list<std::string> all) {
  std::string out;
  for (const std::string& word : all)
    if (!word.empty()) out += (out.empty() ? "" : " ") + word;
  return out;
}
const cost::FitErrors& judged(const OperatorCalibration& o) {
  return o.fit.holdout.n > 0 ? o.fit.holdout : o.fit.errors;
}

std::string operators(const Calibration& c) {
  Table t({{"kernel"},
           {"regime"},
           {"GPU"},
           {"framework"},
           {"backend"},
           {"dtype"},
           {"n", Align::right},
           {"form"},
           {"fitted", Align::right},
           {"held out", Align::right},
           {"roofline", Align::right},
           {"reference", Align::right},
           {"in 90%", Align::right},
           {"far off", Align::right}});
  std::string last;
  for (const OperatorCalibration& o : c.operators) {
    const calibrate::OperatorKey& k = o.key;
    if (!last.empty() && last != k.kernel) t.rule();
    last = k.kernel;
    const auto reference = calibrate::reference_of(k);
    const bool held = o.fit.holdout.n > 0;
    t.row({k.kernel, k.regime, k.gpu,
           k.version.empty() ? k.framework : k.framework + " " + k.version, k.backend, dtypes(k),
           format_integer(o.fit.errors.n),
           o.fit.tables.empty() ? o.fit.form
                                : fmt::format("{} + {} tables", o.fit.form, o.fit.tables.size()),
           percent(o.fit.errors.mape), or_dash(held, o.fit.holdout.mape), percent(o.roofline.mape),
           or_dash(reference.has_value(), reference ? reference->best() : 0),
           or_dash(held, o.coverage), format_integer(o.outliers)});
  }
  return t.text(0, width);
}

// Mean errors of a kernel's operators, weighted by their rows.
struct Pooled {
  std::int64_t n = 0;
  double mape = 0, bias = 0;
  void add(const cost::FitErrors& e) {
    n += e.n, mape += static_cast<double>(e.n) * e.mape, bias += static_cast<double>(e.n) * e.bias;
  }
  double mean() const { return n > 0 ? mape / static_cast<double>(n) : 0; }
};

std::string regimes(const Calibration& c) {
  std::map<std::string, std::map<std::string, Pooled>> kernels;
  for (const OperatorCalibration& o : c.operators)
    for (const calibrate::Regime& r : o.regimes) kernels[o.key.kernel][r.name].add(r.errors);
  Table t({{"kernel"},
           {"calls of"},
           {"n", Align::right},
           {"fitted", Align::right},
           {"bias", Align::right}});
  for (const auto& [kernel, bands] : kernels)
    for (const char* name : {"< 20 us", "20 to 200 us", "> 200 us"})
      if (const auto at = bands.find(name); at != bands.end())
        t.row({kernel, name, format_integer(at->second.n), percent(at->second.mean()),
               fmt::format("{:+.1f}%", 100 * at->second.bias / static_cast<double>(at->second.n))});
  return t.text(0, width);
}

std::string outliers(const Calibration& c) {
  std::vector<const calibrate::Outlier*> all;
  std::int64_t count = 0;
  for (const OperatorCalibration& o : c.operators) {
    count += o.outliers;
    for (const calibrate::Outlier& w : o.worst) all.push_back(&w);
  }
  if (all.empty()) return "";
  std::ranges::stable_sort(all, std::ranges::greater(), [](const calibrate::Outlier* o) {
    return std::abs(std::log(o->factor()));
  });
  Table t(
      {{"row"}, {"measured", Align::right}, {"fitted", Align::right}, {"factor", Align::right}});
  for (std::size_t i = 0; i < std::min(shown_outliers, all.size()); ++i)
    t.row({all[i]->place, fmt::format("{:.4g} us", all[i]->measured_us),
           fmt::format("{:.4g} us", all[i]->fitted_us), fmt::format("{:.2f}", all[i]->factor())});
  return fmt::format(
             "\nFar off (over 1.5 times either way): {} rows; they stay in the fit, which counts "
             "them by their distance and not its square\n",
             format_integer(count)) +
         t.text(0, width);
}

std::string next_step(const Calibration& c, const std::string& profile) {
  if (c.operators.empty()) return "Next: nothing was fitted; the reasons are listed above.\n";
  const OperatorCalibration* worst = nullptr;
  double gap = 1;
  for (const OperatorCalibration& o : c.operators) {
    const auto target = calibrate::target_of(o.key.kernel, o.key.dtype);
    if (!target || judged(o).n < 20 || judged(o).mape / *target <= gap) continue;
    gap = judged(o).mape / *target, worst = &o;
  }
  std::string out;
  if (worst)
    out = fmt::format(
        "Largest gap: {} on {} at {} against a target of {}.\n",
        words({worst->key.kernel, worst->key.regime, worst->key.backend, dtypes(worst->key)}),
        worst->key.gpu, percent(judged(*worst).mape),
        percent(*calibrate::target_of(worst->key.kernel, worst->key.dtype)));
  if (profile.empty())
    return out + "Next: `-o FOLDER` writes the fits, one file per GPU, framework and version.\n";
  return out + fmt::format(
                   "Next: `kvsim validate MEASUREMENTS --cost {}` on other rows, or `--models-dir` "
                   "with the folder to simulate with these fits.\n",
                   profile);
}

}  // namespace

std::string calibration_text(const Calibration& c, const std::string& profile) {
  std::string out = fmt::format("{} rows, {} operators fitted\n\n", format_integer(c.rows),
                                format_integer(static_cast<std::int64_t>(c.operators.size())));
  if (!c.operators.empty())
    out += operators(c) + "\nErrors by how long a call takes\n" + regimes(c) + outliers(c);
  if (!c.skipped.empty()) {
    Table t({{"kernel"}, {"n", Align::right}, {"why it was not fitted"}, {"first"}});
    for (const auto& s : c.skipped) t.row({s.kernel, format_integer(s.n), s.reason, s.first});
    out += "\nNot fitted\n" + t.text(0, width);
  }
  return out + "\n" + next_step(c, profile);
}

}  // namespace kvsim::report
