#include <doctest/doctest.h>

#include <set>

#include "config/document.h"
#include "scenario/load.h"
#include "scenario/run.h"

using namespace kvsim;

namespace {

scenario::Resolved resolve(const std::string& model, const std::string& engine,
                           const std::string& pool = "") {
  static const spec::Catalog catalog;
  return scenario::resolve(
      config::Document::parse(R"({"schema":"kvsim.scenario/1","model":")" + model +
                                  R"(","seed":1,"workload":{"generate":{"kind":"independent",
 "requests":60,"arrival":{"process":"poisson","rate":20},
 "input":{"distribution":"uniform","min":50,"max":900},
 "output":{"distribution":"uniform","min":5,"max":60}}},
 "price":{"gpu_hour_usd":2},
 "cluster":{"pools":[{"name":"serve",)" +
                                  pool + R"("engine":{"gpu":"h100-sxm","max_model_len":4096)" +
                                  engine + "}}]}}",
                              "s.json"),
      "", catalog);
}

// Starts of steps, by engine.
class Starts final : public engine::StepSink {
 public:
  std::vector<std::set<std::int64_t>> of{2};
  void step(const Step& s) override {
    of.at(static_cast<std::size_t>(s.engine)).insert(s.start.nanoseconds());
  }
  // Of the engine with fewer steps, those that start with one of the other.
  double shared() const {
    const auto& few = of[0].size() < of[1].size() ? of[0] : of[1];
    const auto& many = of[0].size() < of[1].size() ? of[1] : of[0];
    double both = 0;
    for (const std::int64_t start : few) both += static_cast<double>(many.count(start));
    return both / static_cast<double>(few.size());
  }
};

Starts starts(const scenario::Resolved& s) {
  Starts sink;
  scenario::RunOptions options;
  options.steps = &sink;
  CHECK(scenario::run(s, options).complete);
  return sink;
}

}  // namespace

TEST_SUITE("scenario/data_parallel") {
  TEST_CASE("a replica with data parallel ranks is that many engines on GPUs of their own") {
    const auto result = scenario::run(resolve(
        "llama-3.1-8b", R"(,"tensor_parallel_size":2,"data_parallel_size":3)", R"("replicas":2,)"));
    REQUIRE(result.engines.size() == 6);
    std::int64_t completed = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const metrics::EngineResult& e = result.engines[i];
      CHECK(e.gpus == 2);
      CHECK(e.replica == static_cast<int>(i / 3));
      CHECK(e.data_parallel_rank == static_cast<int>(i % 3));
      CHECK(e.completed > 0);
      completed += e.completed;
    }
    CHECK(completed == 60);
    CHECK(result.cost.gpu_hours == doctest::Approx(12 * result.summary.duration / 3600));
  }

  TEST_CASE("a dense model has a whole copy and a whole KV pool on every rank") {
    const auto one = resolve("llama-3.1-8b", ""),
               two = resolve("llama-3.1-8b", R"(,"data_parallel_size":2)");
    CHECK(one.pools[0].size.ledger.weights == two.pools[0].size.ledger.weights);
    // Less the buffers of the group's communication.
    CHECK(two.pools[0].num_blocks <= one.pools[0].num_blocks);
    CHECK(two.pools[0].num_blocks > one.pools[0].num_blocks * 9 / 10);
    CHECK(starts(two).shared() < 0.2);
  }

  TEST_CASE("experts are spread over the data parallel ranks which step in lockstep") {
    // 93 GB of weights: too many for one GPU, few enough for two.
    CHECK_THROWS_AS(resolve("mixtral-8x7b", ""), InputError);
    const auto two =
        resolve("mixtral-8x7b", R"(,"data_parallel_size":2,"enable_expert_parallel":true)");
    CHECK(two.pools[0].plan.gpus() == 2);
    // The others come while one rank is idle.
    CHECK(starts(two).shared() > 0.9);
  }

  TEST_CASE("data parallel ranks serve what replicas behind the same balancer serve") {
    const auto ranks = scenario::run(resolve("llama-3.1-8b", R"(,"data_parallel_size":2)"));
    auto replicas = resolve("llama-3.1-8b", "", R"("replicas":2,)");
    replicas.scenario.cluster.router.policy = "vllm-dp";
    const auto same = scenario::run(replicas);
    CHECK(ranks.summary.duration == same.summary.duration);
    CHECK(ranks.summary.ttft_ms.mean == same.summary.ttft_ms.mean);
    CHECK(ranks.summary.itl_ms.mean == same.summary.itl_ms.mean);
  }

  TEST_CASE("only vllm profiles have data parallel ranks") {
    try {
      resolve("llama-3.1-8b", R"(,"profile":"sglang","data_parallel_size":2)");
      FAIL("accepted");
    } catch (const InputError& error) {
      CHECK(error.diagnostics().front().message.find("data_parallel_size") != std::string::npos);
    }
  }
}
