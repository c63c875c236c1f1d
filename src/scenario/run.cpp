#include "scenario/run.h"

#include <fmt/format.h>

#include "cluster/simulation.h"
#include "cost/power.h"
#include "diag/check.h"
#include "metrics/verdict.h"
#include "scenario/pool.h"
#include "scenario/provenance.h"

namespace kvsim::scenario {
namespace {

metrics::EngineResult describe(const ResolvedPool& pool, int pool_index, int replica, int rank,
                               const cost::CostModel& cost) {
  metrics::EngineResult e;
  e.pool = pool.name;
  e.pool_index = pool_index;
  e.replica = replica;
  e.data_parallel_rank = rank;
  e.profile = pool.config.profile;
  e.rules = pool.size.options.rules.label;
  e.model = pool.model.id;
  e.gpu = pool.gpu.id;
  e.gpus = pool.plan.gpus() / pool.ranks();
  e.tensor_parallel_size = pool.plan.tensor_parallel_size;
  e.kv_dtype = pool.kv_dtype->name;
  e.cost_source = cost::source_names[static_cast<std::size_t>(cost.source())];
  e.cost_note = cost.describe();
  e.kv_bytes = pool.size.ledger.kv.value();
  e.max_num_seqs = *pool.config.max_num_seqs;
  e.max_num_batched_tokens = *pool.config.max_num_batched_tokens;
  return e;
}

metrics::KvShares shares(const engine::KvUseMeter::Shares& s) {
  return {s.states, s.reserved, s.internal, s.external, s.free, s.running};
}

metrics::KvWaste waste(const engine::KvUseMeter& meter) {
  metrics::KvWaste w;
  const auto busy = meter.all(), pressed = meter.under_pressure();
  w.busy = shares(busy);
  if (pressed.seconds <= 0) return w;
  w.pressure_ratio = pressed.seconds / busy.seconds;
  w.under_pressure = shares(pressed);
  return w;
}

// Of one GPU, from time 0 to `now`. Of a pipeline's stages one works while the others idle.
std::optional<double> mean_power_w(const ResolvedPool& pool, const engine::Engine::Totals& totals,
                                   const cost::CostModel& cost, Time now) {
  const auto power = cost::power_of(pool.gpu);
  if (!power || cost.source() == cost::Source::constant) return std::nullopt;
  if (now.nanoseconds() <= 0) return power->idle_w;
  return power->watts(totals.times.full_load_s / pool.plan.pipeline_parallel_size /
                      to_seconds(now - Time{}));
}

void add_totals(metrics::EngineResult& e, const engine::Engine& engine, const ResolvedPool& pool,
                const cost::CostModel& cost, Time now) {
  const engine::Engine::Totals t = engine.totals();
  e.total_blocks = engine.profile().usable_blocks();
  e.block_tokens = engine.profile().block_tokens();
  e.steps = t.steps;
  e.busy_s = to_seconds(t.busy);
  e.scheduled_tokens = t.scheduled_tokens;
  const auto bound = [&](cost::Binds by) { return t.times.by_binds[static_cast<std::size_t>(by)]; };
  e.compute_s = bound(cost::Binds::compute);
  e.memory_s = bound(cost::Binds::memory_bandwidth);
  e.link_s = bound(cost::Binds::link);
  e.launch_s = bound(cost::Binds::launch);
  e.constant_s = cost.source() == cost::Source::constant ? e.busy_s : 0;
  e.steps_refused_kv = t.refused_kv;
  e.steps_refused_seqs = t.refused_seqs;
  e.steps_refused_tokens = t.refused_tokens;
  e.mean_power_w = mean_power_w(pool, t, cost, now);
  e.kv_waste = waste(t.kv_use);
  add_provenance(e, t);
}

}  // namespace

metrics::RunResult run(const Resolved& scenario, const RunOptions& options) {
  const auto source =
      workload::make_workload(scenario.scenario.workload,
                              static_cast<std::uint64_t>(scenario.scenario.seed), scenario.folder);
  return run(scenario, *source, options);
}

metrics::RunResult run(const Resolved& scenario, workload::RequestSource& source,
                       const RunOptions& options) {
  const Scenario& s = scenario.scenario;
  check_context() = {
      .time_ns = 0, .step = 0, .request = nullptr, .seed = static_cast<unsigned long long>(s.seed)};
  const std::int64_t expected = source.remaining();

  metrics::RecorderOptions recording;
  recording.warmup_requests = s.workload.warmup.requests;
  recording.warmup = s.workload.warmup.seconds;
  recording.slo = s.slo;
  recording.keep_requests = options.keep_requests;
  recording.engine_blocks.clear();
  for (const ResolvedPool& pool : scenario.pools)
    for (int i = 0; i < pool.replicas * pool.ranks(); ++i)
      recording.engine_blocks.push_back(pool.usable_blocks());
  metrics::Recorder recorder(std::move(recording));

  metrics::RunResult result;
  cluster::Simulation::Options how;
  std::vector<std::unique_ptr<engine::Engine>> engines;
  std::vector<std::shared_ptr<const cost::CostModel>> costs, own_costs;
  for (std::size_t p = 0; p < scenario.pools.size(); ++p) {
    const ResolvedPool& pool = scenario.pools[p];
    std::shared_ptr<const cost::CostModel> cost = cost_model(pool);
    if (options.with_cost) cost = options.with_cost(*own_costs.emplace_back(std::move(cost)));
    const int ranks = pool.ranks();
    // Layers of experts exchange tokens between all ranks.
    const bool lockstep = ranks > 1 && pool.model.moe.has_value();
    for (int engine = 0; engine < pool.replicas * ranks; ++engine) {
      const int replica = engine / ranks, rank = engine % ranks;
      if (rank == 0)
        how.replicas.push_back({static_cast<std::uint32_t>(engines.size()),
                                static_cast<std::uint32_t>(ranks),
                                lockstep ? cluster::Stepping::lockstep : cluster::Stepping::alone});
      engine::EngineSetup setup;
      setup.profile = engine::find_profile(pool.config.profile);
      setup.limits = limits(pool);
      setup.cost = cost;
      setup.model = &pool.model;
      setup.power = cost::power_of(pool.gpu);
      setup.host_token_seconds = host_token_seconds(pool);
      setup.request_delay = request_delay(pool);
      setup.engine_index = static_cast<int>(engines.size());
      setup.pool_index = static_cast<int>(p);
      engines.push_back(std::make_unique<engine::Engine>(setup, recorder, options.steps));
      costs.push_back(cost);
      result.engines.push_back(describe(pool, static_cast<int>(p), replica, rank, *cost));
    }
  }

  how.on_unservable = s.workload.on_unservable == workload::OnUnservable::reject
                          ? cluster::OnUnservable::reject
                          : cluster::OnUnservable::error;
  how.stop = options.stop;
  if (options.progress)
    how.progress = [&](std::int64_t ended, Time now) { options.progress(ended, expected, now); };
  cluster::Simulation simulation(std::move(engines),
                                 cluster::find_router(s.cluster.router.policy)->make(), source,
                                 recorder, std::move(how));
  result.complete = simulation.run();

  result.name = s.name;
  result.purpose = s.purpose;
  result.seed = s.seed;
  result.scenario_json = scenario.echo_json();
  for (std::size_t i = 0; i < simulation.engines().size(); ++i)
    add_totals(result.engines[i], *simulation.engines()[i],
               scenario.pools[static_cast<std::size_t>(result.engines[i].pool_index)], *costs[i],
               simulation.now());
  recorder.finish(result, simulation.now());
  result.warnings = scenario.warnings;
  for (std::string& note : source.notes()) result.warnings.push_back(std::move(note));
  std::int64_t truncated = 0;
  for (const auto& engine : simulation.engines()) truncated += engine->totals().truncated;
  if (truncated > 0)
    result.warnings.push_back(
        fmt::format("max_model_len cuts the output of {} requests short; they count as completed, "
                    "as in the engine",
                    truncated));
  warn_outside(result);
  metrics::judge(result);
  metrics::price(result, s.price.gpu_hour_usd);
  check_context() = {};
  return result;
}

}  // namespace kvsim::scenario
