#include "metrics/verdict.h"

#include <doctest/doctest.h>

using namespace kvsim;
using namespace kvsim::metrics;

namespace {

RunResult run() {
  RunResult r;
  r.engines.resize(2);
  for (int i = 0; i < 2; ++i) {
    EngineResult& e = r.engines[static_cast<std::size_t>(i)];
    e.replica = i;
    e.kv_dtype = "bfloat16";
    e.max_num_seqs = 8;
    e.max_num_batched_tokens = 512;
    e.steps = 100;
    e.busy_s = 10;
    e.memory_s = 6;
    e.compute_s = 4;
    e.mean_running = 4;
  }
  r.summary.duration = 20;
  return r;
}

Verdict judged(RunResult r) {
  judge(r);
  return r.verdict;
}

}  // namespace

TEST_CASE("with nothing refused the largest share of step time binds") {
  RunResult r = run();
  CHECK(judged(r).binds == "HBM bandwidth");
  CHECK(judged(r).sentence.find("60 %") != std::string::npos);
  CHECK(judged(r).sentence.find("busy 50 %") != std::string::npos);
  CHECK(judged(r).set == "cluster.pools.0.engine.tensor_parallel_size=2");
  for (EngineResult& e : r.engines) e.compute_s = 8;
  CHECK(judged(r).binds == "compute");
  CHECK(judged(r).set == "cluster.pools.0.replicas=3");
}

TEST_CASE("refusals for want of blocks make KV capacity bind and fp8 the lever") {
  RunResult r = run();
  for (EngineResult& e : r.engines) e.steps_refused_kv = 30, e.steps_refused_seqs = 10;
  CHECK(judged(r).binds == "KV capacity");
  CHECK(judged(r).set == "cluster.pools.0.engine.kv_cache_dtype=fp8");
  for (EngineResult& e : r.engines) e.kv_dtype = "fp8_e4m3";
  CHECK(judged(r).set == "cluster.pools.0.replicas=3");
}

TEST_CASE("a pool that is reserved and not filled is to be used better before it grows") {
  const auto with = [](const char* profile, double internal, double external) {
    RunResult r = run();
    for (EngineResult& e : r.engines) {
      e.steps_refused_kv = 30;
      e.profile = profile;
      e.kv_waste.under_pressure = KvShares{};
      e.kv_waste.under_pressure->internal_ratio = internal;
      e.kv_waste.under_pressure->external_ratio = external;
    }
    return judged(r);
  };
  CHECK(with("static", 0.57, 0.09).set == "cluster.pools.0.engine.reservation=pow2");
  CHECK(with("static", 0.57, 0.09).lever.find("57 %") != std::string::npos);
  CHECK(with("static", 0.10, 0.40).set == "cluster.pools.0.engine.allocator=exact");
  CHECK(with("static", 0.10, 0.10).set == "cluster.pools.0.engine.kv_cache_dtype=fp8");
  CHECK(with("trtllm", 0.01, 0.40).set ==
        "cluster.pools.0.engine.capacity_scheduler_policy=MAX_UTILIZATION");
  CHECK(with("vllm-v1", 0.01, 0.40).set == "cluster.pools.0.engine.kv_cache_dtype=fp8");
}

TEST_CASE("refusals by a limit of the scheduler name the limit") {
  RunResult r = run();
  for (EngineResult& e : r.engines) e.steps_refused_seqs = 30;
  CHECK(judged(r).binds == "scheduler limits");
  CHECK(judged(r).set == "cluster.pools.0.engine.max_num_seqs=16");
  for (EngineResult& e : r.engines) e.steps_refused_tokens = 40;
  CHECK(judged(r).set == "cluster.pools.0.engine.max_num_batched_tokens=1024");
}

TEST_CASE("a token budget that is full of compute is a compute limit") {
  RunResult r = run();
  for (EngineResult& e : r.engines) e.steps_refused_tokens = 90, e.compute_s = 9, e.memory_s = 1;
  CHECK(judged(r).binds == "compute");
}

TEST_CASE("requests that wait though steps refuse few are queueing") {
  RunResult r = run();
  for (EngineResult& e : r.engines) e.mean_waiting = 5;
  CHECK(judged(r).binds == "queueing");
}

TEST_CASE("the busiest pool is the one that is judged") {
  RunResult r = run();
  r.engines[1].pool_index = 1;
  r.engines[1].replica = 0;
  r.engines[1].busy_s = 15;
  r.engines[1].link_s = 15;
  CHECK(judged(r).binds == "link");
}

TEST_CASE("an idle cluster has nothing that binds") {
  RunResult r = run();
  for (EngineResult& e : r.engines) e.busy_s = 0;
  CHECK(judged(r).binds == "nothing");
  CHECK(judged(RunResult()).binds.empty());
}
