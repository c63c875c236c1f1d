#pragma once
#include "metrics/recorder.h"
#include "metrics/verdict.h"

// A small run with every part of a result filled in.
namespace kvsim::report {

inline metrics::RunResult sample() {
  using namespace metrics;
  const auto at = [](double s) { return Time(to_duration(s).value()); };
  RecorderOptions options;
  options.slo.ttft_ms = 1500;
  options.engine_blocks = {9, 9};
  options.keep_requests = true;
  Recorder recorder(options);
  RunResult r;
  r.scenario_json =
      R"({"schema":"kvsim.scenario/1","name":"chat","purpose":"a small example","seed":7})";
  r.name = "chat";
  r.purpose = "a small example";
  r.seed = 7;
  r.engines.resize(2);
  for (int i = 0; i < 2; ++i) {
    EngineResult& e = r.engines[static_cast<std::size_t>(i)];
    e.pool = "serve";
    e.replica = i;
    e.profile = "vllm-v1";
    e.rules = "vllm-v1 >= 0.21";
    e.model = "llama-3.1-8b";
    e.gpu = "h100-sxm";
    e.kv_dtype = "bfloat16";
    e.cost_source = "datasheet";
    e.cost_note = "datasheet roofline, not calibrated";
    e.block_tokens = 16;
    e.max_num_seqs = 4;
    e.max_num_batched_tokens = 512;
    e.steps = 4;
    e.busy_s = 4;
    e.memory_s = 3;
    e.compute_s = 1;
  }
  recorder.arrived(0, at(0));
  recorder.arrived(1, at(0.25));
  recorder.arrived(2, at(0.5));
  recorder.prefix_lookup(40, 0, 2, 0);
  recorder.prefix_lookup(40, 32, 2, 2);
  recorder.engine_state(0, at(0), 3, 1, 0);
  recorder.engine_state(1, at(1), 6, 2, 1);
  recorder.request_failed(2, "r2", at(0.5), at(0.5), "needs 20 blocks of 9");
  recorder.output_tokens(at(1), 1);
  for (int i = 0; i < 3; ++i) recorder.gap(to_duration(1), 1);
  const auto finish = [&](std::int64_t index, const char* id, int engine, double arrival,
                          double first, double end, std::int64_t output) {
    RequestRecord q;
    q.index = index, q.id = id, q.engine = engine, q.prompt_tokens = 40, q.output_tokens = output;
    q.arrival = at(arrival), q.first_scheduled = at(arrival), q.first_token = at(first),
    q.end = at(end);
    recorder.request_finished(q);
  };
  finish(1, "r1", 1, 0.25, 2, 2, 1);
  finish(0, "r,0", 0, 0, 1, 4, 4);
  recorder.finish(r, at(4));
  r.warnings = {"the trace has no prefix ids: no sharing"};
  judge(r);
  price(r, 2.5);
  return r;
}

}  // namespace kvsim::report
