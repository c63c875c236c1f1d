#include "calibrate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "calibrate/predict/operator_predictions.h"
#include "calibrate/predict/predictor.h"
#include "calibrate/targets.h"
#include "calibrate/two_threads.h"

namespace kvsim::calibrate {
namespace {

double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

class Collector {
 public:
  Collector(const spec::Catalog& catalog, const ValidateOptions& options)
      : options_(options),
        catalog_(catalog),
        predictor_(catalog),
        rows_(predictor_.gpus()),
        serving_(catalog,
                 {options.host, options.predictions == Predictions::datasheet, options.poll}) {}

  void add(const MeasuredRow& row) {
    const Measurement& m = row.measurement;
    if (options_.poll) options_.poll();
    ++out_.rows;
    if (m.figures.empty()) return skipped_.add("e2e", m.unmeasured, row.place);
    if (is_of_another_model(m))
      return skipped_.add(m.figures.front().kernel, "not of model " + options_.model, row.place);
    if (std::holds_alternative<Serving>(m.shape)) return add_run(row);
    const std::vector<Prediction> predictions = predictor_.predict(m);
    const bool is_operator =
        options_.predictions != Predictions::datasheet && m.figures.size() == 1;
    RowGroups::Place place{};
    std::string why;
    const bool has_form = is_operator && rows_.add(row, place, why);
    for (std::size_t i = 0; i < m.figures.size(); ++i) {
      const Figure& figure = m.figures[i];
      if (!predictions[i].unrepresentable.empty()) {
        skipped_.add(figure.kernel, predictions[i].unrepresentable, row.place);
        continue;
      }
      // Rows without a form are predicted from the datasheet; no fit ever sees them.
      if (options_.holdout > 0 && !has_form &&
          !is_held_out(row.key, options_.holdout, options_.seed))
        continue;
      const Key key{figure.kernel, predictor_.gpus().id(m.gpu), m.framework, m.dtype, m.kv_dtype,
                    m.regime};
      const auto [at, fresh] = ids_.try_emplace(key, ids_.size());
      conditions_[figure.kernel].insert(m.buffers);
      Row point{{at->second, row.place, figure.value, predictions[i].value}, has_form, place, {}};
      points_.push_back(std::move(point));
    }
  }

  Validation finish() {
    serving_.predict();
    predict_operators();
    drop_rows_of_fits();
    number_groups();
    std::vector<std::vector<double>> errors(out_.groups.size());
    std::vector<double> all;
    for (const Row& row : points_) {
      const Point& p = row.point;
      errors[p.group].push_back((p.predicted - p.measured) / p.measured);
      all.push_back(errors[p.group].back());
    }
    std::set<std::string> kernels;
    for (std::size_t i = 0; i < out_.groups.size(); ++i) {
      GroupErrors& g = out_.groups[i];
      g.errors = summarise(errors[i]);
      // Targets and published errors are of the engines' kernels.
      if (g.framework != kvbench_framework) {
        g.target = target_of(g.kernel, g.dtype);
        if (const auto known = reference_of(g.kernel, g.gpu, "", g.dtype, g.kv_dtype, g.regime))
          g.reference = known->best();
      }
      if (kernels.insert(g.kernel).second)
        for (const cost::Buffers buffers : conditions_[g.kernel])
          out_.conditions.push_back({g.kernel, std::string(condition(g.kernel, buffers))});
    }
    out_.overall = summarise(all);
    out_.skipped = skipped_.list();
    describe_sources();
    find_worst();
    summarise_serving();
    out_.holdout = options_.holdout;
    out_.points.reserve(points_.size());
    for (Row& row : points_) out_.points.push_back(std::move(row.point));
    return std::move(out_);
  }

 private:
  using Key =
      std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;
  struct Row {
    Point point;
    bool has_form;
    RowGroups::Place place;
    std::optional<std::size_t> run;  // of serving_
  };

  void add_run(const MeasuredRow& row) {
    const Measurement& m = row.measurement;
    const spec::GpuSpec* gpu = predictor_.gpus().find(m.gpu);
    ServingPredictions::Added added;
    if (gpu)
      added = serving_.add(m, *gpu);
    else
      added.unrepresentable = fmt::format("GPU \"{}\" is not in the catalog", m.gpu);
    for (const Figure& figure : m.figures) {
      if (!added.unrepresentable.empty()) {
        skipped_.add(figure.kernel, added.unrepresentable, row.place);
        continue;
      }
      const Key key{figure.kernel, gpu->id,    m.framework,
                    m.dtype,       m.kv_dtype, serving_.regime(added.run)};
      const auto [at, fresh] = ids_.try_emplace(key, ids_.size());
      conditions_[figure.kernel].insert(m.buffers);
      points_.push_back({{at->second, row.place, figure.value, 0}, false, {}, added.run});
      figures_.push_back(figure.kernel);
    }
  }

  // Values of serving runs, once all constants are fitted; runs that were fitted to go.
  void settle_runs() {
    std::size_t figure = 0;
    for (Row& row : points_)
      if (row.run) row.point.predicted = serving_.value(*row.run, figures_[figure++]);
    std::erase_if(points_,
                  [&](const Row& row) { return row.run && !serving_.is_scored(*row.run); });
  }

  void summarise_serving() {
    std::vector<ServedFigure> figures;
    for (const Row& row : points_)
      if (row.run)
        figures.push_back({out_.groups[row.point.group].kernel,
                           std::string(serving_.part(*row.run)), serving_.host_group(*row.run),
                           row.point.measured, row.point.predicted,
                           serving_.kernel_sigma(*row.run)});
    out_.serving = calibrate::summarise_serving(figures);
    out_.hosts = serving_.fitted();
  }

  bool is_of_another_model(const Measurement& m) const {
    const auto* run = std::get_if<Serving>(&m.shape);
    if (options_.model.empty() || !run || run->model == options_.model) return false;
    const auto asked = catalog_.find_spelling(options_.model),
               own = catalog_.find_spelling(run->model);
    return !asked || !own || asked->id != own->id;
  }

  void predict_operators() {
    CostFits fits(catalog_, predictor_.gpus(), options_.cost);
    for (const OperatorRows& rows : rows_.groups()) operators_.emplace_back(rows, options_);
    if (options_.holdout <= 0)
      for (OperatorPredictions& o : operators_) o.choose(fits);
    on_two_threads(
        operators_.size(),
        [&](std::size_t i) {
          if (options_.holdout > 0) operators_[i].fit_the_others();
          operators_[i].predict();
        },
        [this](std::size_t, std::size_t) {
          if (options_.poll) options_.poll();
        });
  }

  const OperatorPredictions* operator_of(const Row& row) const {
    return row.has_form && row.place.group < operators_.size() ? &operators_[row.place.group]
                                                               : nullptr;
  }

  void drop_rows_of_fits() {
    settle_runs();
    std::erase_if(points_, [&](const Row& row) {
      const OperatorPredictions* o = operator_of(row);
      if (!o || !o->is_scored(row.place.row)) return o != nullptr;
      // A gate on fits says nothing where there are too few rows for one.
      if (options_.holdout <= 0 || o->has_model() || o->key().framework != kvbench_framework)
        return false;
      skipped_.add(o->key().kernel, "too few rows for a fit without them", row.point.place);
      return true;
    });
    for (Row& row : points_)
      if (const OperatorPredictions* o = operator_of(row); o && o->has_model())
        row.point.predicted = o->seconds(row.place.row),
        out_.held_out += options_.holdout > 0 ? 1 : 0;
  }

  // Groups come out in the order of their keys; points were numbered as they came, and a hold-out
  // may have left none of a group.
  void number_groups() {
    std::vector<char> used(ids_.size(), 0);
    for (const Row& row : points_) used[row.point.group] = 1;
    std::vector<std::size_t> place(ids_.size());
    for (const auto& [key, id] : ids_) {
      if (!used[id]) continue;
      place[id] = out_.groups.size();
      const auto& [kernel, gpu, framework, dtype, kv_dtype, regime] = key;
      GroupErrors g;
      g.kernel = kernel, g.gpu = gpu, g.framework = framework;
      g.dtype = dtype, g.kv_dtype = kv_dtype, g.regime = regime;
      out_.groups.push_back(std::move(g));
    }
    for (Row& row : points_) row.point.group = place[row.point.group];
  }

  void describe_sources() {
    struct Tally {
      std::set<std::string> sources, donors;
      std::int64_t inside = 0, judged = 0;
    };
    std::vector<Tally> tallies(out_.groups.size());
    std::set<std::string> all;
    for (const Row& row : points_) {
      const OperatorPredictions* o = operator_of(row);
      Tally& t = tallies[row.point.group];
      const bool has_model = o && o->has_model();
      t.sources.insert(row.run     ? std::string(serving_.source(*row.run))
                       : has_model ? o->source()
                                   : "datasheet");
      if (!has_model) continue;
      if (!o->donor().empty()) t.donors.insert(o->donor());
      if (o->has_quantiles()) ++t.judged, t.inside += o->inside(row.place.row);
    }
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      GroupErrors& g = out_.groups[i];
      g.source = fmt::format("{}", fmt::join(tallies[i].sources, ", "));
      g.donor = fmt::format("{}", fmt::join(tallies[i].donors, ", "));
      if (tallies[i].judged > 0)
        g.coverage_90 =
            static_cast<double>(tallies[i].inside) / static_cast<double>(tallies[i].judged);
      all.insert(tallies[i].sources.begin(), tallies[i].sources.end());
    }
    if (!all.empty()) out_.source = fmt::format("{}", fmt::join(all, ", "));
  }

  void find_worst() {
    std::vector<std::size_t> order(points_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto error = [&](std::size_t i) {
      return std::abs(points_[i].point.predicted / points_[i].point.measured - 1);
    };
    const std::size_t shown = std::min(options_.worst, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown),
                      order.end(), [&](std::size_t a, std::size_t b) {
                        return error(a) != error(b) ? error(a) > error(b) : a < b;
                      });
    for (std::size_t i = 0; i < shown; ++i) {
      const OperatorPredictions* o = operator_of(points_[order[i]]);
      out_.worst.push_back({order[i], o ? o->reason(points_[order[i]].place.row) : ""});
    }
  }

  const ValidateOptions& options_;
  const spec::Catalog& catalog_;
  Predictor predictor_;
  RowGroups rows_;
  ServingPredictions serving_;
  std::vector<std::string> figures_;           // kernels of the points that are of runs
  std::deque<OperatorPredictions> operators_;  // by operator group
  std::map<std::string, std::set<cost::Buffers>> conditions_;  // of the rows of a kernel
  std::map<Key, std::size_t> ids_;
  SkipCounter skipped_;
  std::vector<Row> points_;
  Validation out_;
};

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

Validation validate(std::vector<MeasurementFile> files, const spec::Catalog& catalog,
                    const ValidateOptions& options) {
  Collector collector(catalog, options);
  read_measurements(std::move(files), [&](MeasuredRow&& row) { collector.add(row); });
  return collector.finish();
}

Validation validate(const std::vector<std::string>& paths, const spec::Catalog& catalog,
                    const ValidateOptions& options) {
  return validate(load_measurement_files(paths), catalog, options);
}

}  // namespace kvsim::calibrate
