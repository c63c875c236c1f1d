// One engine step of 64 decoding requests, under every profile: schedule, tokens, metrics. The
// counters say steps per second and heap allocations in the steady state.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "cost/cost_model.h"
#include "engine/engine.h"
#include "support/allocations.h"

namespace {

using namespace kvsim;

constexpr std::int64_t requests = 64, prompt = 512, steps_of_a_round = 2000;

engine::SchedulerLimits limits(const engine::ProfileEntry& profile) {
  engine::SchedulerLimits l;
  l.max_num_seqs = requests;
  l.max_num_batched_tokens = requests * prompt;
  l.max_model_len = prompt + steps_of_a_round + 64;
  l.block_tokens = profile.engine == "sglang" || profile.engine == "static" ? 1
                   : profile.engine == "trtllm"                             ? 32
                                                                            : 16;
  l.num_blocks = requests * l.max_model_len / l.block_tokens * 2;
  l.sglang.chunked_prefill_size = requests * prompt;
  l.sglang.max_prefill_tokens = requests * prompt;
  l.sglang.schedule_conservativeness = 0.01;
  return l;
}

void step(benchmark::State& state, const engine::ProfileEntry& profile) {
  const spec::ModelSpec model;
  std::int64_t allocations = 0, steps = 0;
  std::unique_ptr<metrics::Recorder> recorder;
  std::unique_ptr<engine::Engine> engine;
  Time now;
  std::int64_t left = 0;
  for (auto _ : state) {
    if (left == 0) {
      state.PauseTiming();
      recorder = std::make_unique<metrics::Recorder>(metrics::RecorderOptions{});
      engine::EngineSetup setup;
      setup.profile = &profile;
      setup.limits = limits(profile);
      setup.cost = cost::make_constant(Duration(ns_per_second / 100));
      setup.model = &model;
      engine = std::make_unique<engine::Engine>(setup, *recorder, nullptr);
      for (std::int64_t i = 0; i < requests; ++i) {
        workload::RequestSpec r;
        r.index = i;
        r.id = "r" + std::to_string(i);
        r.prompt = {{workload::content_id(r.id), 0, prompt}};
        r.prompt_tokens = prompt;
        r.output_tokens = r.max_tokens = steps_of_a_round + 40;
        recorder->arrived(i, now);
        engine->submit(r, true);
      }
      for (int i = 0; i < 8; ++i) {
        now = now + engine->begin_step(now);
        engine->end_step(now);
      }
      left = steps_of_a_round;
      allocations -= testing::allocations();
      state.ResumeTiming();
    }
    now = now + engine->begin_step(now);
    engine->end_step(now);
    ++steps;
    if (--left == 0) allocations += testing::allocations();
  }
  if (left > 0) allocations += testing::allocations();
  state.counters["steps"] =
      benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
  state.counters["allocations_per_1000_steps"] =
      1000.0 * static_cast<double>(allocations) / static_cast<double>(steps);
}

const bool registered = [] {
  for (const engine::ProfileEntry& profile : engine::profiles())
    benchmark::RegisterBenchmark(("engine_step/64_decodes/" + std::string(profile.name)).c_str(),
                                 [&profile](benchmark::State& s) { step(s, profile); });
  return true;
}();

}  // namespace
