#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "calibrate/serving/closed_loop.h"
#include "calibrate/serving/deployment.h"
#include "cost/step/step_cost.h"
#include "support/simulate.h"

// The closed form that host constants are fitted with, against the simulation of the same engine.
// Lengths vary by a fifth, as published clients draw them: equal ones would keep all clients in
// step.

using namespace kvsim;
using namespace kvsim::testing;

namespace {

struct Point {
  const char *model, *gpu, *framework;
  int tp;
  std::int64_t clients;
  int prompt, output;
};

cost::HostProfile host_of(const Point& p) {
  cost::HostProfile h;
  h.step_us = 400, h.sequence_us = 4, h.prefill_us = 1500, h.request_us = 8000;
  if (p.clients == 1) h = {};
  return h;
}

calibrate::LoopFigures closed_form(const Point& p) {
  static const spec::Catalog catalog;
  static const cost::CostBook book(catalog);
  const spec::GpuSpec gpu = catalog.gpu(p.gpu);
  calibrate::Serving run;
  run.model = p.model, run.prompt = p.prompt, run.output = p.output;
  run.concurrency = p.clients, run.tp = run.gpus = p.tp;
  const calibrate::Deployment d = calibrate::deploy(run, p.framework, gpu, catalog, &book.of(gpu));
  REQUIRE(d.unrepresentable.empty());
  REQUIRE(d.cost->source() == cost::Source::fitted);
  calibrate::EngineHabits habits = calibrate::habits_of(run, p.framework, "");
  habits.receive_interval = 1;  // the simulated engine looks at its queue before every step
  const calibrate::Placed placed = calibrate::place(run, d, habits);
  REQUIRE(placed.unrepresentable.empty());
  return calibrate::closed_loop(placed.point, habits, host_of(p));
}

metrics::RunResult simulated(const Point& p) {
  const cost::HostProfile h = host_of(p);
  const bool sglang = std::string_view(p.framework) == "sglang";
  return simulate_text(fmt::format(
      R"({{"schema": "kvsim.scenario/1", "name": "loop", "model": "{}",
  "workload": {{"generate": {{"kind": "independent", "requests": {}, "arrival": {{"process": "closed",
    "clients": {}}}, "input": {{"distribution": "uniform", "min": {}, "max": {}}},
    "output": {{"distribution": "uniform", "min": {}, "max": {}}}}}}},
  "cluster": {{"pools": [{{"name": "serve", "replicas": 1, "engine": {{"gpu": "{}",
    "tensor_parallel_size": {}, "max_model_len": 16384, {},
    "cost": {{"kind": "fitted", "host": {{"step_us": {}, "sequence_us": {}, "prefill_us": {},
      "request_us": {}}}}}}}}}]}}}})",
      p.model, 10 * p.clients, p.clients, p.prompt * 8 / 10, p.prompt * 12 / 10, p.output * 8 / 10,
      p.output * 12 / 10, p.gpu, p.tp,
      sglang ? R"("profile": "sglang", "disable_radix_cache": true, "chunked_prefill_size": 16384,
                  "max_prefill_tokens": 16384)"
             : R"("profile": "vllm-v1", "enable_prefix_caching": false, "max_num_seqs": 512,
                  "max_num_batched_tokens": 8192)",
      h.step_us, h.sequence_us, h.prefill_us, h.request_us));
}

}  // namespace

TEST_CASE("The closed form of a closed loop is near the simulation of the same engine") {
  for (const Point& p : {Point{"llama-3.1-8b", "h100-sxm", "vllm", 1, 1, 1000, 100},
                         Point{"llama-3.1-8b", "h100-sxm", "vllm", 1, 16, 1000, 200},
                         Point{"llama-3.1-8b", "h100-sxm", "vllm", 1, 64, 1000, 500},
                         Point{"llama-3.1-8b", "h100-sxm", "vllm", 1, 128, 1000, 1000},
                         Point{"llama-3.1-8b", "h100-sxm", "vllm", 1, 8, 8000, 400},
                         Point{"llama-3.1-70b", "h200-sxm", "vllm", 4, 32, 2000, 300},
                         Point{"gemma-3-12b", "h100-sxm", "vllm", 1, 32, 4000, 500},
                         Point{"llama-3.1-8b", "h100-sxm", "sglang", 1, 16, 1000, 300},
                         Point{"llama-3.1-8b", "h100-sxm", "sglang", 1, 64, 1000, 1000},
                         Point{"llama-3.1-70b", "h200-sxm", "sglang", 4, 32, 1000, 500}}) {
    CAPTURE(p.model);
    CAPTURE(p.framework);
    CAPTURE(p.clients);
    const calibrate::LoopFigures form = closed_form(p);
    const metrics::RunResult run = simulated(p);
    const double tpot = run.summary.tpot_ms.mean / 1e3, ttft = run.summary.ttft_ms.mean / 1e3;
    CAPTURE(tpot);
    CAPTURE(ttft);
    CHECK(std::abs(form.tpot / tpot - 1) < 0.03);
    CHECK(std::abs(form.ttft / ttft - 1) < 0.12);
    const double out = static_cast<double>(p.clients * p.output);
    // Output tokens over the time of the loop's middle, without ramp and drain.
    CHECK(form.tokens_per_second == doctest::Approx(out / form.life));
  }
}
