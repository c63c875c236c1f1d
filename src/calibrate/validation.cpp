#include "calibrate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "calibrate/measurements/kinds.h"
#include "calibrate/measurements/kvbench.h"
#include "calibrate/predict/predictor.h"
#include "config/csv.h"
#include "config/document.h"

namespace kvsim::calibrate {
namespace {

double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

bool is_json(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first != std::string::npos && (text[first] == '{' || text[first] == '[');
}

class Collector {
 public:
  explicit Collector(const spec::Catalog& catalog) : predictor_(catalog) {}

  void add(const Measurement& m, const std::string& file, int line) {
    ++rows_;
    const std::string place = line > 0 ? fmt::format("{}:{}", file, line) : file;
    if (m.figures.empty()) return skip("e2e", m.unmeasured, place);
    const std::vector<Prediction> predictions = predictor_.predict(m);
    for (std::size_t i = 0; i < m.figures.size(); ++i) {
      const Figure& figure = m.figures[i];
      if (!predictions[i].unrepresentable.empty()) {
        skip(figure.kernel, predictions[i].unrepresentable, place);
        continue;
      }
      const Key key{figure.kernel, predictor_.gpu_id(m.gpu), m.framework, m.dtype, m.kv_dtype,
                    m.regime};
      const auto [at, fresh] = ids_.try_emplace(key, ids_.size());
      points_.push_back({at->second, place, figure.value, predictions[i].value});
    }
  }

  Validation finish() {
    Validation out;
    out.rows = rows_;
    // Groups come out in the order of their keys; points were numbered as they came.
    std::vector<std::size_t> place(ids_.size());
    std::vector<std::vector<double>> errors(ids_.size());
    for (const auto& [key, id] : ids_) {
      place[id] = out.groups.size();
      const auto& [kernel, gpu, framework, dtype, kv_dtype, regime] = key;
      out.groups.push_back({kernel, gpu, framework, dtype, kv_dtype, regime, {}});
    }
    std::vector<double> all;
    for (Point& p : points_) {
      p.group = place[p.group];
      errors[p.group].push_back((p.predicted - p.measured) / p.measured);
      all.push_back(errors[p.group].back());
    }
    std::set<std::string> kernels;
    for (std::size_t i = 0; i < out.groups.size(); ++i) {
      out.groups[i].errors = summarise(errors[i]);
      if (kernels.insert(out.groups[i].kernel).second)
        out.conditions.push_back(
            {out.groups[i].kernel, std::string(condition(out.groups[i].kernel))});
    }
    out.overall = summarise(all);
    for (auto& [key, rows] : skipped_) out.skipped.push_back(rows);
    std::ranges::stable_sort(out.skipped, [](const SkippedRows& a, const SkippedRows& b) {
      return a.kernel != b.kernel ? a.kernel < b.kernel : a.n > b.n;
    });
    out.points = std::move(points_);
    return out;
  }

 private:
  using Key =
      std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;

  void skip(const std::string& kernel, const std::string& reason, const std::string& place) {
    SkippedRows& rows = skipped_[{kernel, reason}];
    if (rows.n++ == 0) rows.kernel = kernel, rows.reason = reason, rows.first = place;
  }

  Predictor predictor_;
  std::int64_t rows_ = 0;
  std::map<Key, std::size_t> ids_;
  std::map<std::pair<std::string, std::string>, SkippedRows> skipped_;
  std::vector<Point> points_;
};

void read_csv(std::string text, const std::string& name, Collector& collector,
              Diagnostics& diagnostics) {
  config::CsvReader csv = config::CsvReader::from_text(std::move(text), name);
  const Kind& kind = recognise(csv);
  const Row row(csv);
  while (csv.next()) {
    try {
      collector.add(kind.read(row), name, csv.line());
    } catch (const InputError& error) {
      for (const Diagnostic& d : error.diagnostics()) diagnostics.add(d);
    }
  }
}

}  // namespace

ErrorSummary summarise(const std::vector<double>& signed_errors) {
  ErrorSummary out;
  out.n = static_cast<std::int64_t>(signed_errors.size());
  if (signed_errors.empty()) return out;
  std::vector<double> ape;
  for (const double e : signed_errors)
    ape.push_back(std::abs(e)), out.mape += std::abs(e), out.bias += e;
  out.mape /= static_cast<double>(out.n), out.bias /= static_cast<double>(out.n);
  std::ranges::sort(ape);
  out.median_ape = percentile(ape, 0.5), out.p90_ape = percentile(ape, 0.9);
  return out;
}

Validation validate(std::vector<MeasurementFile> files, const spec::Catalog& catalog) {
  Collector collector(catalog);
  Diagnostics diagnostics;
  for (MeasurementFile& file : files) {
    try {
      if (is_json(file.text)) {
        const auto document =
            config::Document::parse(std::move(file.text), file.name, config::Comments::forbidden);
        for (const Measurement& m : read_kvbench(document)) collector.add(m, file.name, 0);
      } else {
        read_csv(std::move(file.text), file.name, collector, diagnostics);
      }
    } catch (const InputError& error) {
      for (const Diagnostic& d : error.diagnostics()) diagnostics.add(d);
    }
  }
  diagnostics.throw_if_errors();
  return collector.finish();
}

Validation validate(const std::vector<std::string>& paths, const spec::Catalog& catalog) {
  std::vector<MeasurementFile> files;
  for (const std::string& path : paths)
    files.push_back({path == "-" ? "<stdin>" : path, config::read_file(path)});
  return validate(std::move(files), catalog);
}

}  // namespace kvsim::calibrate
