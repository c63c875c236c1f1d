#include "calibrate/fit/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "calibrate/fit/grown.h"
#include "calibrate/fit/least_squares.h"
#include "calibrate/fit/tables.h"
#include "diag/check.h"
#include "random/stream.h"

namespace kvsim::calibrate {
namespace {

// Rivals are weeded out on few rows from one start, the rest compared on more rows from all starts,
// and the last ones on all rows.
struct Round {
  std::size_t rows, starts;
  int iterations;
  std::size_t kept;  // forms
};
constexpr std::array<Round, 2> rounds{{{200, 1, 10, 4}, {400, 99, 25, 2}}};
constexpr int last_iterations = 20;
// What a parameter's departure from its start by a factor of e counts, as a row's log error would.
// It holds parameters that no row tells of, and hardly moves the others.
constexpr double pull = 0.02;
// A log ratio of cold to replayed time at which a row's residual counts half in the tables.
constexpr double warm = 0.15;
constexpr std::size_t most_growing = 2000;  // rows whose growth is looked at, about

std::vector<const cost::Form*> rivals(std::string_view kernel, std::span<const Sample> samples,
                                      const cost::Device& device, const FitOptions& options) {
  const std::string_view only = options.form;
  std::vector<const cost::Form*> out;
  const cost::Form* baseline = nullptr;
  for (const cost::Form& f : cost::forms()) {
    if (f.kernel != kernel || (!only.empty() && f.name != only)) continue;
    if (f.applies && !f.applies(samples.front().shape)) continue;
    if (only.empty() && f.runs_on && !f.runs_on(device)) continue;
    (f.name == cost::baseline_form ? void(baseline = &f) : out.push_back(&f));
  }
  if ((out.empty() || options.roofline_competes) && baseline) out.push_back(baseline);
  KVSIM_CHECK(!out.empty(), "no form for kernel {}", kernel);
  return out;
}

// Rows in an order that depends on the seed alone, so that folds and subsets are random.
std::vector<Sample> shuffled(std::span<const Sample> samples, std::uint64_t seed) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return random::mix(seed, i); });
  std::vector<Sample> out;
  for (const std::size_t i : order) out.push_back(samples[i]);
  return out;
}

// By how much the loss on unseen rows is expected to exceed that on the fitted ones (Akaike's final
// prediction error): of two rivals on few rows the one with fewer parameters may be the better.
double flattery(std::size_t rows, std::size_t parameters) {
  const double n = static_cast<double>(rows), k = static_cast<double>(parameters);
  return (n + k) / std::max(1.0, n - k);
}

struct Problem {
  const cost::Form& form;
  const cost::Device& device;
  std::span<const Sample> samples;
  std::span<const double> origin;  // logarithms that parameters are pulled to

  LeastSquares least_squares() const {
    LeastSquares p;
    for (const cost::Parameter& q : form.parameters)
      p.low.push_back(std::log(q.low)), p.high.push_back(std::log(q.high));
    p.rows = samples.size() + origin.size();
    p.residuals = [this](std::span<const double> x, std::span<double> out) {
      std::vector<double> values(x.size());
      for (std::size_t j = 0; j < x.size(); ++j) values[j] = std::exp(x[j]);
      for (std::size_t i = 0; i < samples.size(); ++i)
        out[i] = std::log(form.microseconds(samples[i].shape, device, values, samples[i].buffers) /
                          samples[i].microseconds);
      for (std::size_t j = 0; j < origin.size(); ++j)
        out[samples.size() + j] = pull * (x[j] - origin[j]);
    };
    return p;
  }
};

// The first is what parameters are pulled to: a fit of the same form elsewhere, which says more
// than what the form's author found plausible, or else that.
std::vector<std::vector<double>> starts_of(const cost::Form& form, const FitOptions& options) {
  std::vector<std::vector<double>> out;
  if (options.near && options.near->form == form.name &&
      options.near->parameters.size() == form.parameters.size()) {
    out.emplace_back();
    for (const double v : options.near->parameters) out.back().push_back(std::log(v));
  }
  std::vector<double> plausible;
  for (const cost::Parameter& q : form.parameters) plausible.push_back(std::log(q.start));
  out.push_back(plausible);
  for (int s = 1; s < options.starts; ++s) {
    random::Stream stream(options.seed, "fit starts", static_cast<std::uint64_t>(s));
    out.push_back(plausible);
    for (double& x : out.back()) x += 0.5 * stream.normal();
  }
  return out;
}

struct Rival {
  const cost::Form* form;
  Minimum minimum;
  double expected = HUGE_VAL;  // loss on unseen rows
};

// Fits each rival from its starts and keeps the round's best.
void compare(std::vector<Rival>& rivals_left, std::span<const Sample> rows,
             const cost::Device& device, const FitOptions& options, const Round& round) {
  for (Rival& r : rivals_left) {
    r.expected = HUGE_VAL;
    std::vector<std::vector<double>> starts = starts_of(*r.form, options);
    starts.resize(std::min(starts.size(), round.starts));
    const Problem problem{*r.form, device, rows, starts.front()};
    LeastSquares p = problem.least_squares();
    p.iterations = round.iterations;
    for (const std::vector<double>& start : starts) {
      Minimum m = minimise(p, start);
      const double expected = m.loss * flattery(rows.size(), r.form->parameters.size());
      if (expected < r.expected || r.minimum.x.empty())
        r.expected = expected, r.minimum = std::move(m);
    }
  }
  std::ranges::stable_sort(rivals_left, {}, &Rival::expected);
  if (rivals_left.size() > round.kept)
    rivals_left.erase(rivals_left.begin() + static_cast<std::ptrdiff_t>(round.kept),
                      rivals_left.end());
}

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

void set_range(cost::OperatorFit& fit, const cost::Form& form, std::span<const Sample> samples) {
  const std::size_t n = form.feature_names.size();
  fit.low.assign(n, HUGE_VAL), fit.high.assign(n, -HUGE_VAL);
  for (const Sample& s : samples) {
    const cost::Features at = form.features(s.shape);
    for (std::size_t i = 0; i < n; ++i)
      fit.low[i] = std::min(fit.low[i], at[i]), fit.high[i] = std::max(fit.high[i], at[i]);
  }
}

// Growth from rows (of many, some) within the fitted range: beyond it tables fade. By several
// octaves too, or small falls would add up.
std::vector<Growth> growths_of(const cost::Form& form, std::span<const Sample> samples,
                               const cost::Device& device, std::span<const double> parameters,
                               const std::vector<double>& low, const std::vector<double>& high) {
  std::vector<Growth> out;
  const auto us = [&](const cost::Shape& s) {
    return form.microseconds(s, device, parameters, cost::Buffers::replayed);
  };
  const auto add = [&](const cost::Shape& from, int field, double factor) {
    const std::optional<cost::Shape> to = grown(from, field, factor);
    if (!to) return;
    Growth g{form.features(from), form.features(*to), 0};
    for (std::size_t f = 0; f < low.size(); ++f)
      if (g.to[f] < low[f] || g.to[f] > high[f]) return;
    g.form_gain = std::log(us(*to) / us(from));
    out.push_back(g);
  };
  const std::size_t step = std::max<std::size_t>(1, samples.size() / most_growing);
  for (std::size_t i = 0; i < samples.size(); i += step)
    for (int field = 0; field < work_fields; ++field)
      for (const double factor : {2.0, 4.0, 16.0}) add(samples[i].shape, field, factor);
  return out;
}

}  // namespace

cost::FitErrors errors_of(const cost::OperatorModel& model, std::span<const Sample> samples) {
  cost::FitErrors out;
  out.n = static_cast<std::int64_t>(samples.size());
  if (samples.empty()) return out;
  std::vector<double> ape;
  for (const Sample& s : samples) {
    const double e = model.microseconds(s.shape, s.buffers) / s.microseconds - 1;
    ape.push_back(std::abs(e)), out.bias += e, out.mape += std::abs(e);
  }
  out.bias /= static_cast<double>(out.n), out.mape /= static_cast<double>(out.n);
  std::ranges::sort(ape);
  out.median_ape = quantile(ape, 0.5), out.p90_ape = quantile(ape, 0.9);
  return out;
}

cost::OperatorFit fit_operator(std::string_view kernel, std::span<const Sample> given,
                               const cost::Device& device, const FitOptions& options) {
  KVSIM_CHECK(!given.empty(), "no rows to fit {} to", kernel);
  const std::vector<Sample> samples = shuffled(given, options.seed);
  const std::span<const Sample> all(samples);

  std::vector<Rival> left;
  for (const cost::Form* form : rivals(kernel, samples, device, options))
    left.push_back({form, {}});
  for (const Round& round : rounds)
    if (&round == &rounds.back() || left.size() > round.kept)
      compare(left, all.subspan(0, std::min(round.rows, all.size())), device, options, round);
  for (Rival& r : left) {
    const std::vector<double> origin = starts_of(*r.form, options).front();
    const Problem full{*r.form, device, all, origin};
    LeastSquares p = full.least_squares();
    p.iterations = last_iterations;
    r.minimum = minimise(p, std::move(r.minimum.x));
    r.expected = r.minimum.loss * flattery(all.size(), r.form->parameters.size());
  }
  const Rival& winner = *std::ranges::min_element(left, {}, &Rival::expected);
  const cost::Form* best_form = winner.form;
  const Minimum* best = &winner.minimum;

  cost::OperatorFit fit;
  fit.kernel = kernel, fit.form = best_form->name;
  for (std::size_t j = 0; j < best->x.size(); ++j) {
    fit.parameter_names.emplace_back(best_form->parameters[j].name);
    fit.parameters.push_back(std::exp(best->x[j]));
  }
  fit.covariance = best->covariance;
  set_range(fit, *best_form, all);
  if (options.tables && best_form->name != cost::baseline_form) {
    // What a warm L2 cache leaves over must not go into the times of cold calls.
    std::vector<Residual> residuals;
    for (const Sample& s : all) {
      const auto us = [&](cost::Buffers buffers) {
        return best_form->microseconds(s.shape, device, fit.parameters, buffers);
      };
      const double fitted = us(s.buffers);
      const double gain = std::log(us(cost::Buffers::cold) / fitted) / warm;
      residuals.push_back(
          {best_form->features(s.shape), std::log(s.microseconds / fitted), 1 / (1 + gain * gain)});
    }
    const std::vector<Growth> growths =
        growths_of(*best_form, all, device, fit.parameters, fit.low, fit.high);
    fit.tables = fit_tables(residuals, static_cast<int>(best_form->feature_names.size()), growths);
  }
  const cost::OperatorModel model(fit, device);
  fit.errors = errors_of(model, all);
  std::vector<double> logs;
  for (const Sample& s : all)
    logs.push_back(std::log(s.microseconds / model.microseconds(s.shape, s.buffers)));
  std::ranges::sort(logs);
  for (const double share : {0.05, 0.25, 0.5, 0.75, 0.95})
    fit.log_quantiles.push_back(quantile(logs, share));
  // 1.645 deviations of a normal spread hold the middle 90 %.
  fit.log_sigma = (fit.log_quantiles.back() - fit.log_quantiles.front()) / (2 * 1.645);
  return fit;
}

OperatorKey key_of(const Measurement& m) {
  OperatorKey k{"", m.gpu, m.framework, m.version, m.backend, m.dtype, m.kv_dtype, m.regime};
  if (!m.figures.empty()) k.kernel = m.figures.front().kernel;
  if (k.kernel == "comm") {
    k.dtype.clear();  // a message is its bytes, whatever they hold
    constexpr std::string_view per_node = "_devpernode";  // vidur's GPUs per node: in the shape
    if (const auto at = k.backend.find(per_node); at != std::string::npos) k.backend.resize(at);
  }
  // Rows of one block with other projections run other kernels around the core.
  if (const Mla* s = std::get_if<Mla>(&m.shape); s && !s->gemm_dtype.empty())
    k.regime += ":" + s->gemm_dtype;
  return k;
}

}  // namespace kvsim::calibrate
