#include "scenario/load.h"

#include <fmt/format.h>

#include <filesystem>

#include "cluster/router.h"
#include "config/echo.h"
#include "diag/suggest.h"
#include "engine/registry.h"
#include "scenario/pool.h"

namespace kvsim::scenario {
namespace {

// A diagnostic about a field of the scenario, with the place that origins know for it.
class Checker {
 public:
  Checker(const Resolved& resolved, Diagnostics& diagnostics, std::string file)
      : resolved_(resolved), diagnostics_(diagnostics), file_(std::move(file)) {}

  void error(const std::string& pointer, std::string code, std::string message,
             std::string hint = {}) const {
    diagnostics_.add(locate(pointer, std::move(code), std::move(message), std::move(hint)));
  }
  Diagnostic locate(const std::string& pointer, std::string code, std::string message,
                    std::string hint) const {
    Diagnostic d;
    d.code = std::move(code), d.message = std::move(message), d.hint = std::move(hint);
    d.file = file_, d.pointer = pointer;
    for (const config::Origins::Entry& entry : resolved_.origins.entries) {
      if (entry.pointer != pointer || entry.origin == "default") continue;
      // "file:line:col", or the override's own words.
      const auto column = entry.origin.rfind(':');
      const auto line = column == std::string::npos ? column : entry.origin.rfind(':', column - 1);
      if (line == std::string::npos || !entry.origin.starts_with(file_ + ":"))
        d.file = entry.origin;
      else
        d.line = std::atoi(entry.origin.c_str() + line + 1),
        d.column = std::atoi(entry.origin.c_str() + column + 1);
    }
    return d;
  }

 private:
  const Resolved& resolved_;
  Diagnostics& diagnostics_;
  std::string file_;
};

template <class Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

void check_reuse(const engine::EngineConfig& e, const std::string& at, const Checker& check) {
  const engine::TrtllmOptions& o = e.trtllm;
  for (std::size_t i = 0; i < o.token_range_retention.size(); ++i) {
    const engine::TokenRangeRetention& range = o.token_range_retention[i];
    if (range.token_end && *range.token_end <= range.token_start)
      check.error(fmt::format("{}/token_range_retention/{}/token_end", at, i), "retention-range",
                  fmt::format("a range of positions from {} to {} is empty", range.token_start,
                              *range.token_end),
                  "token_end is the position after the last");
  }
  if (e.enable_prefix_caching) return;
  const char* unused = o.host_cache_size.value() > 0      ? "host_cache_size"
                       : !o.token_range_retention.empty() ? "token_range_retention"
                                                          : nullptr;
  if (unused)
    check.error(at + "/" + unused, "field-without-use",
                fmt::format("without block reuse nothing is kept that \"{}\" could be for", unused),
                "set enable_prefix_caching to true, or leave it out");
}

void check_words(const Resolved& r, const Checker& check) {
  const std::string& policy = r.scenario.cluster.router.policy;
  if (!cluster::find_router(policy))
    check.error("/cluster/router/policy", "unknown-word",
                fmt::format("unknown router policy \"{}\"", policy),
                suggestion(policy, names_of(cluster::routers())));
  if (r.scenario.cluster.pools.empty())
    check.error("/cluster/pools", "no-pools", "a cluster needs at least one pool");
  for (std::size_t i = 0; i < r.scenario.cluster.pools.size(); ++i) {
    const engine::EngineConfig& e = r.scenario.cluster.pools[i].engine;
    const std::string at = fmt::format("/cluster/pools/{}/engine", i);
    if (!engine::find_profile(e.profile))
      check.error(at + "/profile", "unknown-word",
                  fmt::format("unknown engine profile \"{}\"", e.profile),
                  suggestion(e.profile, names_of(engine::profiles())));
    if (e.async_scheduling.value_or(false) && e.vllm.speculative)
      check.error(at + "/async_scheduling", "not-modelled",
                  "async_scheduling together with speculative decoding is not modelled",
                  "set it to false; the result then leaves out the overlap of host and GPU time");
    if (e.async_scheduling.value_or(false) && (e.profile == "static" || e.profile == "trtllm"))
      check.error(at + "/async_scheduling", "not-modelled",
                  fmt::format("the profile {} schedules one step after the other", e.profile),
                  "leave it out or set it to false");
    check_reuse(e, at, check);
    if (e.cost.kind == engine::CostKind::constant && !e.cost.step)
      check.error(at + "/cost/step", "missing-field",
                  "a constant cost needs its \"step\", for example \"20ms\"");
    if (e.cost.kind != engine::CostKind::fitted && e.cost.host)
      check.error(at + "/cost/host", "field-without-use",
                  "host time is added to fitted kernels only",
                  "set \"kind\": \"fitted\", or leave it out");
    if (e.cost.kind != engine::CostKind::constant && e.cost.step)
      check.error(at + "/cost/step", "field-without-use",
                  "\"step\" is the duration of a constant cost",
                  "set \"kind\": \"constant\" as well");
  }
}

}  // namespace

Resolved load(const std::string& path, const spec::Catalog& catalog,
              const std::vector<Override>& overrides, std::optional<std::int64_t> seed) {
  const std::string folder = path == "-" ? "" : std::filesystem::path(path).parent_path().string();
  return resolve(config::Document::load(path), folder, catalog, overrides, seed);
}

Resolved resolve(config::Document document, const std::string& folder, const spec::Catalog& catalog,
                 const std::vector<Override>& overrides, std::optional<std::int64_t> seed) {
  Resolved r;
  r.folder = folder;
  for (const Override& o : overrides)
    document.set(o.path, o.value, fmt::format("--set {}={}", o.path, o.value));
  if (seed) document.set("seed", std::to_string(*seed), fmt::format("--seed {}", *seed));

  Diagnostics diagnostics;
  config::read(document.root(), r.scenario, diagnostics, scenario_schema, &r.origins);
  const Checker check(r, diagnostics, document.name());
  if (diagnostics.has_errors()) throw InputError(diagnostics.list());
  check_words(r, check);
  workload::check(r.scenario.workload, diagnostics);
  diagnostics.throw_if_errors();

  r.model = catalog.resolve_model(r.scenario.model, folder);
  r.costs = std::make_shared<const cost::CostBook>(catalog);
  for (std::size_t i = 0; i < r.scenario.cluster.pools.size(); ++i) {
    const PoolConfig& pool = r.scenario.cluster.pools[i];
    ResolvedPool& out = r.pools.emplace_back();
    out.name = pool.name;
    out.replicas = pool.replicas;
    out.config = pool.engine;
    out.gpu = catalog.resolve_gpu(pool.engine.gpu, folder);
    out.link = catalog.link_of(out.gpu);
    if (pool.engine.cost.kind == engine::CostKind::fitted) out.costs = &r.costs->of(out.gpu);
    out.model = r.model;
    if (const auto& speculative = out.config.vllm.speculative;
        speculative && !speculative->model.json.empty())
      out.draft_model = catalog.resolve_model(speculative->model, folder);
    const std::string at = fmt::format("/cluster/pools/{}/engine", i);
    resolve_pool(
        out, r.warnings,
        [&](const std::string& field, std::string code, std::string message, std::string hint) {
          check.error(at + "/" + field, std::move(code), std::move(message), std::move(hint));
        });
  }
  diagnostics.throw_if_errors();
  return r;
}

std::string Resolved::echo_json() const {
  Scenario full = scenario;
  for (std::size_t i = 0; i < pools.size(); ++i) full.cluster.pools[i].engine = pools[i].config;
  return config::echo_json(full, scenario_schema);
}

}  // namespace kvsim::scenario
