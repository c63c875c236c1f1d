#include "calibrate/serving/serving_predictions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace kvsim::calibrate {
namespace {

constexpr std::size_t fewest_runs = 4;    // of a group that gets constants of its own
constexpr std::size_t fewest_models = 2;  // behind constants that stand for others

cost::HostEntry entry_of(const std::vector<ServedRun>& runs, const HostFit& fit) {
  const ServedRun& run = runs.front();
  cost::HostEntry e;
  for (const ServedRun& r : runs) e.layers += r.layers / static_cast<double>(runs.size());
  e.framework = run.framework, e.gpu = run.gpu, e.precision = run.precision, e.model = run.model;
  if (!run.version.empty()) e.versions = {run.version};
  e.profile = fit.profile, e.rows = static_cast<std::int64_t>(runs.size());
  return e;
}

}  // namespace

ServingPredictions::ServingPredictions(const spec::Catalog& catalog, Options options)
    : catalog_(catalog), options_(options), book_(catalog) {}

const Deployment& ServingPredictions::deployment(const Serving& run, const std::string& framework,
                                                 const spec::GpuSpec& gpu) {
  const std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", run.model, run.precision, gpu.id,
                                      framework, run.tp, run.pp, run.attn_dp, run.moe_ep);
  const auto [at, fresh] = deployments_.try_emplace(key);
  if (fresh)
    at->second =
        deploy(run, framework, gpu, catalog_, options_.datasheet ? nullptr : &book_.of(gpu));
  return at->second;
}

ServingPredictions::Added ServingPredictions::add(const Measurement& m, const spec::GpuSpec& gpu) {
  const Serving& s = std::get<Serving>(m.shape);
  if (!s.unrepresentable.empty()) return {0, s.unrepresentable};
  if (s.gpus > 8 && s.tp > 0) return {0, "one engine across several nodes"};
  const Deployment& d = deployment(s, m.framework, gpu);
  if (!d.unrepresentable.empty()) return {0, d.unrepresentable};
  Run r;
  r.served.habits = habits_of(s, m.framework, m.version);
  Placed placed = place(s, d, r.served.habits);
  if (!placed.unrepresentable.empty()) return {0, std::move(placed.unrepresentable)};
  r.served.point = placed.point;
  r.served.framework = m.framework, r.served.version = m.version, r.served.gpu = gpu.id;
  r.served.precision = cost::precision_of(d.model), r.served.model = d.model.id;
  r.served.layers = static_cast<double>(d.model.num_layers);
  for (const Figure& f : m.figures) {
    if (f.kernel == "e2e_ttft") r.served.ttft = f.value;
    if (f.kernel == "e2e_tpot") r.served.tpot = f.value;
  }
  r.ranks = placed.ranks, r.gpus = d.gpus;
  r.closed_loop = s.concurrency > 0;
  r.group = fmt::format("{} {} {} {}", m.framework, m.version, gpu.id, s.precision);
  r.regime = d.model.id + (r.closed_loop ? "" : " offline");
  const auto recurrent = [](const spec::LayerGroup& g) { return g.recurrent.has_value(); };
  r.part = !r.closed_loop                                         ? "offline"
           : d.model.id.starts_with("deepseek-")                  ? "deepseek-r1"
           : std::ranges::any_of(d.model.layer_groups, recurrent) ? "recurrent models"
           : s.concurrency > 128                                  ? "over 128 in flight"
                                                                  : "closed loop";
  r.source = cost::source_names[static_cast<std::size_t>(d.cost->source())];
  // Without the discrepancy of whole steps, which the summary fits anew.
  const double whole = d.cost->spread({}).above / cost::ninety_percent;
  r.sigma =
      std::sqrt(std::max(0.0, whole * whole - cost::model_discrepancy * cost::model_discrepancy));
  runs_.push_back(std::move(r));
  return {runs_.size() - 1, {}};
}

void ServingPredictions::evaluate(Run& run, const cost::HostProfile& host) const {
  run.figures = run.closed_loop ? closed_loop(run.served.point, run.served.habits, host)
                                : offline(run.served.point, run.served.habits, host);
}

std::map<std::string, std::vector<std::size_t>> ServingPredictions::by_group(
    bool with_model) const {
  std::map<std::string, std::vector<std::size_t>> out;
  for (std::size_t i = 0; i < runs_.size(); ++i)
    if (runs_[i].closed_loop && runs_[i].served.tpot > 0)
      out[with_model ? runs_[i].group + "|" + runs_[i].served.model : runs_[i].group].push_back(i);
  return out;
}

void ServingPredictions::fit_halves() {
  // Only runs that constants were fitted for are scored.
  for (Run& run : runs_) run.scored = false;
  for (const auto& [group, members] : by_group(false)) {
    poll();
    if (members.size() < 2) continue;
    std::vector<ServedRun> half;
    for (std::size_t k = 0; k < members.size(); k += 2) half.push_back(runs_[members[k]].served);
    const HostFit fit = fit_host(half);
    for (std::size_t k = 1; k < members.size(); k += 2) {
      evaluate(runs_[members[k]], fit.profile);
      runs_[members[k]].scored = true;
    }
    fitted_.push_back({group, entry_of(half, fit), fit.terms});
  }
}

void ServingPredictions::fit_left_out() {
  std::map<std::pair<std::string, std::string>, HostFit> fits;
  for (Run& run : runs_) {
    if (!run.closed_loop) continue;
    const auto [at, fresh] = fits.try_emplace({run.served.framework, run.served.model});
    if (fresh) {
      std::vector<ServedRun> others;
      for (const Run& other : runs_)
        if (other.closed_loop && other.served.tpot > 0 &&
            other.served.framework == run.served.framework &&
            other.served.model != run.served.model)
          others.push_back(other.served);
      at->second = fit_host(others);
      if (!others.empty())
        fitted_.push_back({run.served.framework + " without " + run.served.model,
                           entry_of(others, at->second), at->second.terms});
    }
    evaluate(run, at->second.profile);
  }
}

void ServingPredictions::predict() {
  for (Run& run : runs_) {
    poll();
    cost::HostProfile host;
    if (options_.host == HostConstants::known)
      if (const cost::HostEntry* e = cost::find_host(
              cost::known_hosts(), {run.served.framework, run.served.version, run.served.gpu,
                                    run.served.precision, run.served.model}))
        host = cost::host_of(*e, run.served.layers);
    evaluate(run, host);
  }
  if (options_.host == HostConstants::halves) fit_halves();
  if (options_.host == HostConstants::left_out) fit_left_out();
}

double ServingPredictions::value(std::size_t i, std::string_view kernel) const {
  const Run& run = runs_[i];
  if (kernel == "e2e_ttft") return run.figures.ttft;
  if (kernel == "e2e_tpot") return run.figures.tpot;
  return run.figures.tokens_per_second * run.ranks / run.gpus;
}

std::vector<cost::HostEntry> ServingPredictions::fit_all() const {
  std::vector<cost::HostEntry> out;
  std::map<std::vector<std::string>, std::vector<ServedRun>> pooled;
  for (const auto& [group, members] : by_group(true)) {
    poll();
    std::vector<ServedRun> runs;
    for (const std::size_t i : members) runs.push_back(runs_[i].served);
    if (runs.size() < fewest_runs) continue;
    // Constants on a bound are artefacts of runs that something else slowed down.
    if (const HostFit fit = fit_host(runs); !fit.on_bound) out.push_back(entry_of(runs, fit));
    // Only ordinary runs say something about other models: those of DeepSeek-R1 wait for cold
    // images, others for queues.
    for (const std::size_t i : members) {
      if (runs_[i].part != "closed loop") continue;
      const ServedRun& r = runs_[i].served;
      for (const auto& labels : {std::vector<std::string>{r.framework, r.gpu, r.precision},
                                 std::vector<std::string>{r.framework, r.gpu},
                                 std::vector<std::string>{r.framework}, std::vector<std::string>{}})
        pooled[labels].push_back(r);
    }
  }
  // For models, precisions and GPUs without runs of their own, and for frameworks with runs of
  // fewer models than tell what is the framework's and what a model's.
  for (const auto& [labels, runs] : pooled) {
    poll();
    std::set<std::string> models;
    for (const ServedRun& r : runs) models.insert(r.model);
    if (models.size() < fewest_models) continue;
    cost::HostEntry e = entry_of(runs, fit_host(runs));
    e.model.clear(), e.versions.clear();
    if (labels.size() < 3) e.precision.clear();
    if (labels.size() < 2) e.gpu.clear();
    if (labels.empty()) e.framework.clear();
    out.push_back(std::move(e));
  }
  return out;
}

}  // namespace kvsim::calibrate
