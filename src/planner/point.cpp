#include "planner/point.h"

#include <algorithm>
#include <cmath>

#include "cost/step_fill.h"

#include "memory/holding.h"

namespace kvsim::planner {
namespace {

constexpr std::int64_t most_timed_chunks = 4096;

// Requests of the deployment that the busiest data-parallel rank runs.
std::int64_t rank_batch(const Request& r, std::int64_t batch) {
  return ceil_div(batch, r.options.plan.data_parallel_size);
}

}  // namespace

std::unique_ptr<cost::CostModel> make_cost(const Request& r, const memory::Pool& pool) {
  cost::FittedOptions fitted;
  cost::RooflineOptions& o = fitted.deployment;
  o.plan = r.options.plan;
  o.kv_dtype = pool.options.kv_dtype;
  o.enforce_eager = pool.options.enforce_eager;
  o.link = r.link;
  const memory::Engine engine = pool.options.rules.engine;
  // As in a run: SGLang captures its own sizes, the others are taken to capture vLLM's.
  o.cuda_graph_tokens =
      engine == memory::Engine::sglang
          ? memory::sglang_graph_batch(r.gpu, r.options.plan.tensor_parallel_size)
          : cost::cuda_graph_limit(pool.options.max_num_batched_tokens, pool.options.max_num_seqs,
                                   pool.options.speculative_tokens, r.gpu);
  const bool own_host = engine == memory::Engine::vllm_v1 || engine == memory::Engine::sglang ||
                        engine == memory::Engine::trtllm;
  fitted.framework = engine == memory::Engine::sglang   ? cost::Framework::sglang
                     : engine == memory::Engine::trtllm ? cost::Framework::trtllm
                                                        : cost::Framework::vllm;
  if (own_host) fitted.host = cost::known_host(r.model, r.gpu, fitted.framework, "");
  return cost::make_step_cost(r.model, r.gpu, fitted, r.costs ? &r.costs->of(r.gpu) : nullptr);
}

double prefill_seconds(const Request& r, const memory::Pool& pool, const cost::CostModel& cost,
                       std::int64_t tokens) {
  const cost::StepFill fill(r.model);
  const std::int64_t chunk = std::max<std::int64_t>(pool.options.max_num_batched_tokens, 1);
  const auto seconds_at = [&](std::int64_t done) {
    cost::StepShape shape;
    const std::int64_t n = std::min(chunk, tokens - done);
    fill.add_chunk(shape, done, n, done + n == tokens ? 1 : 0);
    return cost.step_seconds(shape);
  };
  // A chunk's time is piecewise linear in its context: of very many, one in the middle stands for
  // its neighbours.
  const std::int64_t chunks = ceil_div(tokens, chunk), stride = ceil_div(chunks, most_timed_chunks);
  double seconds = 0;
  for (std::int64_t first = 0; first < chunks; first += stride) {
    const std::int64_t count = std::min(stride, chunks - first);
    seconds += static_cast<double>(count) * seconds_at((first + count / 2) * chunk);
  }
  return seconds;
}

Point make_point(const Request& r, const memory::Pool& pool) {
  Point p;
  p.context = r.context.value_or(pool.options.max_model_len);
  p.batch = r.batch.value_or(1);
  p.kv_bytes = memory::deployment_kv_bytes(r.model, pool.options, p.context, p.batch);
  const std::int64_t batch = rank_batch(r, p.batch);
  p.kv_fits = memory::Holding(pool).requests(p.context) >= batch;
  const auto cost = make_cost(r, pool);
  const auto low = cost::make_at_end(*cost, cost::End::low),
             high = cost::make_at_end(*cost, cost::End::high);
  p.source = cost::source_names[static_cast<std::size_t>(cost->source())];
  p.source_note = cost->describe();
  const auto prefill_ms = [&](const cost::CostModel& model) {
    return prefill_seconds(r, pool, model, p.context) * 1e3;
  };
  p.prefill_ms = prefill_ms(*cost);
  p.prefill_range = {prefill_ms(*low), prefill_ms(*high)};
  cost::StepShape prompt;
  cost::StepFill(r.model).add_chunk(prompt, 0,
                                    std::min(p.context, pool.options.max_num_batched_tokens), 1);
  p.prefill_binds = cost::binds_names[static_cast<std::size_t>(cost->bill(prompt).binds)];
  // The step that makes the next token of sequences that are `context` long with it.
  const cost::StepShape step =
      cost::decode_shape(r.model, std::max<std::int64_t>(p.context - 1, 0), batch);
  const cost::StepBill bill = cost->bill(step);
  p.decode_ms = bill.seconds * 1e3;
  p.decode_range = {low->step_seconds(step) * 1e3, high->step_seconds(step) * 1e3};
  p.binds = p.kv_fits ? std::string(cost::binds_names[static_cast<std::size_t>(bill.binds)])
                      : "KV capacity";
  p.intensity = bill.intensity;
  p.ridge = bill.ridge;
  p.output_tokens_per_s = static_cast<double>(p.batch) / bill.seconds;
  double outside = 0;
  for (const cost::OperatorTime& line : bill.operators) {
    if (line.octaves_outside > 0) outside += line.seconds;
    p.operators.push_back(
        {line.name, std::string(cost::binds_names[static_cast<std::size_t>(line.binds)]),
         std::string(cost::source_names[static_cast<std::size_t>(line.source)]), line.seconds * 1e3,
         line.seconds / bill.seconds, line.calls, line.octaves_outside});
  }
  p.outside_range_ratio = outside / bill.seconds;
  std::stable_sort(p.operators.begin(), p.operators.end(),
                   [](const Operator& a, const Operator& b) { return a.ms > b.ms; });
  return p;
}

}  // namespace kvsim::planner
