#include "calibrate/profile/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>

#include "calibrate/two_threads.h"

namespace kvsim::calibrate {
namespace {

constexpr double outlier_factor = 1.5;
constexpr std::size_t named_outliers = 5;
constexpr std::size_t fewest_for_spread = 30;
constexpr double widening = 1.25;
constexpr std::size_t few_rows = 6;  // too few for a share of them to say anything

void find_outliers(OperatorCalibration& out, const OperatorRows& rows,
                   const cost::OperatorModel& model) {
  std::vector<Outlier> far;
  for (std::size_t i = 0; i < rows.samples.size(); ++i) {
    const Sample& s = rows.samples[i];
    const Outlier o{rows.places[i], s.microseconds, model.microseconds(s.shape, s.buffers)};
    if (o.factor() > outlier_factor || o.factor() < 1 / outlier_factor) far.push_back(o);
  }
  out.outliers = static_cast<std::int64_t>(far.size());
  std::ranges::stable_sort(far, std::ranges::greater(),
                           [](const Outlier& o) { return std::abs(std::log(o.factor())); });
  far.resize(std::min(far.size(), named_outliers));
  out.worst = std::move(far);
}

void find_regimes(OperatorCalibration& out, const OperatorRows& rows,
                  const cost::OperatorModel& model) {
  struct Band {
    const char* name;
    double low, high;
  };
  for (const Band& band :
       {Band{"< 20 us", 0, 20}, Band{"20 to 200 us", 20, 200}, Band{"> 200 us", 200, HUGE_VAL}}) {
    std::vector<Sample> inside;
    for (const Sample& s : rows.samples)
      if (s.microseconds >= band.low && s.microseconds < band.high) inside.push_back(s);
    if (!inside.empty()) out.regimes.push_back({band.name, errors_of(model, inside)});
  }
}

double coverage_of(const cost::OperatorModel& model, const cost::OperatorFit& fit,
                   const std::vector<Sample>& samples) {
  std::size_t inside = 0;
  for (const Sample& s : samples) {
    const double log = std::log(s.microseconds / model.microseconds(s.shape, s.buffers));
    inside += log >= fit.log_quantiles.front() && log <= fit.log_quantiles.back();
  }
  return static_cast<double>(inside) / static_cast<double>(samples.size());
}

std::vector<double> log_ratios(const cost::OperatorModel& model, std::span<const Sample> samples) {
  std::vector<double> out;
  for (const Sample& s : samples)
    out.push_back(std::log(s.microseconds / model.microseconds(s.shape, s.buffers)));
  return out;
}

// What a prediction of a new row may be off by is what it was on rows that the fit had not seen;
// where those are too few, the fit's own residuals are widened.
void set_spread(cost::OperatorFit& fit, std::vector<double> unseen) {
  if (unseen.size() < fewest_for_spread) {
    for (double& q : fit.log_quantiles) q *= widening;
    fit.log_sigma *= widening;
    return;
  }
  std::ranges::sort(unseen);
  constexpr std::array<double, 5> shares{0.05, 0.25, 0.5, 0.75, 0.95};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double at = shares[i] * static_cast<double>(unseen.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, unseen.size() - 1);
    fit.log_quantiles[i] =
        unseen[low] + (at - static_cast<double>(low)) * (unseen[high] - unseen[low]);
  }
  fit.log_sigma = (fit.log_quantiles.back() - fit.log_quantiles.front()) / (2 * 1.645);
}

bool belongs(const OperatorKey& key, const std::string& gpu, const spec::Catalog& catalog) {
  if (gpu.empty() || key.gpu == gpu) return true;
  const std::vector<std::string> known = catalog.gpu_ids();
  return std::ranges::find(known, key.gpu) == known.end() && key.gpu != "a100-pairwise";
}

// Rows whose GPU column is the user's own word count as the GPU that was named.
void rename_gpu(MeasuredRow& row, const std::string& gpu, Gpus& gpus,
                std::vector<std::string>& renamed) {
  std::string& name = row.measurement.gpu;
  if (gpu.empty() || gpus.find(name)) return;
  if (std::ranges::find(renamed, name) == renamed.end()) renamed.push_back(name);
  name = gpu;
}

// "rows of gemm.csv" for each file that a group has rows of.
void add_files(std::vector<std::string>& sources, const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    const std::string path = place.substr(0, place.rfind(':'));
    const std::string text = "rows of " + path.substr(path.rfind('/') + 1);
    if (std::ranges::find(sources, text) == sources.end()) sources.push_back(text);
  }
}

std::vector<cost::CostFile> files_of(const std::vector<OperatorCalibration>& operators,
                                     const std::vector<OperatorRows>& groups,
                                     const std::vector<std::string>& sources) {
  std::vector<cost::CostFile> out;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const OperatorCalibration& o = operators[i];
    const std::string id = profile_id(o.key);
    auto at = std::ranges::find(out, id, &cost::CostFile::id);
    if (at == out.end()) {
      out.push_back({id, o.key.gpu, o.key.framework, o.key.version, sources, {}});
      at = out.end() - 1;
    }
    add_files(at->sources, groups[i].places);
    at->operators.push_back(o.fit);
  }
  return out;
}

}  // namespace

std::string profile_id(const OperatorKey& key) {
  std::string out = key.gpu + "." + key.framework;
  if (!key.version.empty()) out += "-" + key.version;
  for (char& c : out) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-') c = '-';
  }
  return out;
}

Training split(const OperatorRows& rows, double holdout, std::uint64_t seed) {
  Training out;
  for (std::size_t i = 0; i < rows.samples.size(); ++i) {
    const bool held = is_held_out(rows.keys[i], holdout, seed);
    (held ? out.held : out.kept).push_back(rows.samples[i]);
    (held ? out.held_rows : out.kept_rows).push_back(i);
  }
  return out;
}

OperatorCalibration calibrate_operator(const OperatorRows& rows, double holdout,
                                       std::uint64_t seed) {
  OperatorCalibration out;
  out.key = rows.key;
  FitOptions baseline, whole;
  baseline.form = cost::baseline_form;
  whole.roofline_competes = rows.key.framework == kvbench_framework;
  const Training parts = split(rows, holdout, seed);
  cost::OperatorFit first;
  cost::FitErrors held;
  std::vector<double> unseen;
  if (parts.kept.size() >= few_rows && !parts.held.empty()) {
    first = fit_operator(rows.key.kernel, parts.kept, rows.device, whole);
    const cost::OperatorModel model(first, rows.device);
    held = errors_of(model, parts.held);
    unseen = log_ratios(model, parts.held);
    out.coverage = coverage_of(model, first, parts.held);
    const auto roofline = fit_operator(rows.key.kernel, parts.kept, rows.device, baseline);
    out.roofline = errors_of(cost::OperatorModel(roofline, rows.device), parts.held);
    // The form that two thirds chose, and its parameters as a start.
    whole.form = first.form, whole.near = &first, whole.starts = 1;
  } else {
    out.roofline = fit_operator(rows.key.kernel, rows.samples, rows.device, baseline).errors;
  }
  out.fit = fit_operator(rows.key.kernel, rows.samples, rows.device, whole);
  out.fit.backend = rows.key.backend, out.fit.dtype = rows.key.dtype;
  out.fit.kv_dtype = rows.key.kv_dtype, out.fit.regime = rows.key.regime;
  out.fit.holdout = held;
  set_spread(out.fit, std::move(unseen));
  const cost::OperatorModel model(out.fit, rows.device);
  find_regimes(out, rows, model);
  find_outliers(out, rows, model);
  return out;
}

Calibration fit_measurements(std::vector<MeasurementFile> files, const spec::Catalog& catalog,
                             const CalibrateOptions& options) {
  Calibration out;
  Gpus gpus(catalog);
  RowGroups rows(gpus);
  SkipCounter skipped;
  read_measurements(std::move(files), [&](MeasuredRow&& row) {
    ++out.rows;
    rename_gpu(row, options.gpu, gpus, out.renamed);
    const std::string kernel =
        row.measurement.figures.empty() ? "e2e" : row.measurement.figures.front().kernel;
    RowGroups::Place place{};
    std::string why;
    if (!belongs(catalog_key(row.measurement, gpus), options.gpu, catalog))
      skipped.add(kernel, fmt::format("not of GPU \"{}\"", options.gpu), row.place);
    else if (!rows.add(row, place, why))
      skipped.add(kernel, why, row.place);
  });
  out.skipped = skipped.list();

  std::vector<OperatorRows> groups = rows.take();
  std::ranges::sort(groups, {}, &OperatorRows::key);
  out.operators.resize(groups.size());
  // The largest first, so that neither thread is left with one at the end.
  std::vector<std::size_t> order(groups.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t i) { return groups[i].samples.size(); });
  on_two_threads(
      order.size(),
      [&](std::size_t i) {
        out.operators[order[i]] =
            calibrate_operator(groups[order[i]], options.holdout, options.seed);
      },
      options.progress);
  out.files = files_of(out.operators, groups, options.sources);
  return out;
}

}  // namespace kvsim::calibrate
