#include "metrics/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "units/format.h"

namespace kvsim::metrics {
namespace {

// The engines of one pool together.
struct PoolSum {
  const EngineResult* one = nullptr;
  int replicas = 0, engines = 0;
  double busy = 0, compute = 0, memory = 0, link = 0, launch = 0, constant = 0;
  double running = 0, waiting = 0, peak = 0;
  std::int64_t steps = 0, kv = 0, seqs = 0, tokens = 0, preemptions = 0;

  void add(const EngineResult& e) {
    one = one ? one : &e;
    ++engines;
    replicas += e.data_parallel_rank == 0;
    busy += e.busy_s, compute += e.compute_s, memory += e.memory_s, link += e.link_s;
    launch += e.launch_s, constant += e.constant_s;
    running += e.mean_running, waiting += e.mean_waiting, peak = std::max(peak, e.peak_used_ratio);
    steps += e.steps, kv += e.steps_refused_kv, seqs += e.steps_refused_seqs;
    tokens += e.steps_refused_tokens, preemptions += e.preemptions;
  }
  double share(double part) const { return busy > 0 ? part / busy : 0; }
  double refused(std::int64_t count) const {
    return steps > 0 ? static_cast<double>(count) / static_cast<double>(steps) : 0;
  }
  std::string set(std::string_view field, std::string_view value) const {
    return fmt::format("cluster.pools.{}.{}={}", one->pool_index, field, value);
  }
  std::string one_more_replica() const { return set("replicas", std::to_string(replicas + 1)); }
};

std::string percent(double ratio) { return fmt::format("{:.0f} %", ratio * 100); }

// What an engine does with its pool while requests wait for it may be the better lever than a
// larger one. False: it uses what it has.
bool better_use(const PoolSum& p, Verdict& v) {
  if (!p.one->kv_waste.under_pressure) return false;
  const KvShares& s = *p.one->kv_waste.under_pressure;
  if (p.one->profile == "static" && s.internal_ratio >= 0.25) {
    v.lever =
        fmt::format("{} of the pool is reserved and never filled: reserve less, or page the pool",
                    percent(s.internal_ratio));
    v.set = p.set("engine.reservation", "pow2");
    return true;
  }
  if (p.one->profile == "static" && s.external_ratio >= 0.25) {
    v.lever = fmt::format(
        "{} of the pool lies between reservations: place them exactly, or page the pool",
        percent(s.external_ratio));
    v.set = p.set("engine.allocator", "exact");
    return true;
  }
  if (p.one->profile == "trtllm" && p.preemptions == 0 && s.external_ratio >= 0.15) {
    v.lever =
        fmt::format("{} of the pool is set aside for outputs to come: MAX_UTILIZATION uses it",
                    percent(s.external_ratio));
    v.set = p.set("engine.capacity_scheduler_policy", "MAX_UTILIZATION");
    return true;
  }
  return false;
}

void kv_capacity(const PoolSum& p, Verdict& v) {
  v.sentence = fmt::format(
      "{} of steps left a request waiting for KV blocks, {} of the blocks were held at the peak, "
      "{} preemptions",
      percent(p.refused(p.kv)), percent(p.peak), format_integer(p.preemptions));
  if (better_use(p, v)) return;
  const std::string& dtype = p.one->kv_dtype;
  if (dtype == "bfloat16" || dtype == "float16" || dtype == "auto") {
    v.lever = "an 8-bit KV cache holds twice the tokens";
    v.set = p.set("engine.kv_cache_dtype", "fp8");
  } else {
    v.lever = "another replica brings another pool of blocks";
    v.set = p.one_more_replica();
  }
}

void scheduler_limits(const PoolSum& p, Verdict& v) {
  const bool seqs = p.seqs >= p.tokens;
  const std::string_view limit = seqs ? "max_num_seqs" : "max_num_batched_tokens";
  const std::int64_t value = seqs ? p.one->max_num_seqs : p.one->max_num_batched_tokens;
  v.sentence = fmt::format(
      "{} of steps left a request waiting because of {} = {}, with {} of the KV blocks held at the "
      "peak",
      percent(p.refused(seqs ? p.seqs : p.tokens)), limit, value, percent(p.peak));
  v.lever = fmt::format("raise {}", limit);
  v.set = p.set(fmt::format("engine.{}", limit), std::to_string(value * 2));
}

void queueing(const PoolSum& p, Verdict& v) {
  v.sentence = fmt::format("{} requests wait and {} run in the mean, though steps refuse few",
                           format_significant(p.waiting), format_significant(p.running));
  v.lever = "another replica takes its share of the queue";
  v.set = p.one_more_replica();
}

void step_time(const PoolSum& p, double duration, Verdict& v) {
  const std::array<std::pair<double, const char*>, 5> parts{{{p.memory, "HBM bandwidth"},
                                                             {p.compute, "compute"},
                                                             {p.link, "link"},
                                                             {p.launch, "launch floor"},
                                                             {p.constant, "constant step"}}};
  const auto most = std::max_element(
      parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  v.binds = most->second;
  const double busy = duration > 0 ? std::min(1.0, p.busy / (duration * p.engines)) : 0;
  v.sentence =
      fmt::format("{} of the time in steps goes to it; the engines are busy {} of the time",
                  percent(p.share(most->first)), percent(busy));
  if (v.binds == "compute") {
    v.lever = "another replica shares the prefill work";
    v.set = p.one_more_replica();
  } else if (v.binds == "HBM bandwidth" && p.one->tensor_parallel_size >= 8) {
    v.lever = "another replica shares the decodes, each of which reads the weights";
    v.set = p.one_more_replica();
  } else if (v.binds == "HBM bandwidth") {
    v.lever = "more tensor parallelism lets each GPU read less per step";
    v.set = p.set("engine.tensor_parallel_size", std::to_string(p.one->tensor_parallel_size * 2));
  } else if (v.binds == "link") {
    v.lever = "less tensor parallelism sends less between GPUs";
    if (p.one->tensor_parallel_size > 1)
      v.set = p.set("engine.tensor_parallel_size", std::to_string(p.one->tensor_parallel_size / 2));
  } else if (v.binds == "launch floor") {
    v.lever = "steps are too small to fill a GPU: fewer replicas, so that each has a larger batch";
    if (p.replicas > 1) v.set = p.set("replicas", std::to_string(p.replicas - 1));
  } else {
    v.lever = "a cost model of the GPU instead of a constant step tells what binds";
    v.set = p.set("engine.cost", R"({"kind":"roofline"})");
  }
}

}  // namespace

void judge(RunResult& result) {
  std::map<int, PoolSum> pools;
  for (const EngineResult& engine : result.engines) pools[engine.pool_index].add(engine);
  const auto busiest =
      std::max_element(pools.begin(), pools.end(), [](const auto& a, const auto& b) {
        return a.second.busy * b.second.engines < b.second.busy * a.second.engines;
      });
  if (busiest == pools.end()) return;
  const PoolSum& p = busiest->second;
  Verdict& v = result.verdict;
  if (p.busy <= 0) {
    v.binds = "nothing";
    v.sentence = "no engine took a step";
    return;
  }
  const bool kv = p.refused(p.kv) >= 0.05 && p.kv >= std::max(p.seqs, p.tokens);
  const bool limits =
      p.refused(p.seqs) >= 0.05 || (p.refused(p.tokens) >= 0.05 && p.share(p.compute) < 0.5);
  if (kv) {
    v.binds = "KV capacity";
    kv_capacity(p, v);
  } else if (limits) {
    v.binds = "scheduler limits";
    scheduler_limits(p, v);
  } else if (p.waiting > p.running) {
    v.binds = "queueing";
    queueing(p, v);
  } else {
    step_time(p, result.summary.duration, v);
  }
}

namespace {

std::optional<double> energy_wh(const RunResult& result) {
  if (result.engines.empty()) return std::nullopt;
  double watts = 0;
  for (const EngineResult& engine : result.engines) {
    if (!engine.mean_power_w) return std::nullopt;
    watts += engine.gpus * *engine.mean_power_w;
  }
  return watts * result.summary.duration / 3600;
}

}  // namespace

void price(RunResult& result, std::optional<double> gpu_hour_usd) {
  double gpus = 0;
  for (const EngineResult& engine : result.engines) gpus += engine.gpus;
  Cost& c = result.cost;
  c.gpu_hours = gpus * result.summary.duration / 3600;
  const auto output = static_cast<double>(result.summary.total_output_tokens);
  c.energy_wh = energy_wh(result);
  if (c.energy_wh && output > 0)
    c.energy_wh_per_million_output_tokens = *c.energy_wh / output * 1e6;
  if (!gpu_hour_usd) return;
  const double usd = c.gpu_hours * *gpu_hour_usd;
  const double total = output + static_cast<double>(result.summary.total_input_tokens);
  if (output > 0) c.usd_per_million_output_tokens = usd / output * 1e6;
  if (total > 0) c.usd_per_million_total_tokens = usd / total * 1e6;
}

}  // namespace kvsim::metrics
