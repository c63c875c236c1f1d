#include <doctest/doctest.h>

#include <tuple>

#include "config/document.h"
#include "cost/power.h"
#include "cost/step_fill.h"
#include "scenario/load.h"
#include "scenario/pool.h"
#include "scenario/run.h"

using namespace kvsim;

namespace {

scenario::Resolved resolve(const std::string& engine) {
  static const spec::Catalog catalog;
  return scenario::resolve(
      config::Document::parse(R"({"schema":"kvsim.scenario/1","model":"llama-3.1-8b","seed":1,
 "workload":{"generate":{"kind":"independent","requests":3,
 "arrival":{"process":"poisson","rate":0.02},
 "input":{"distribution":"uniform","min":500,"max":500},
 "output":{"distribution":"uniform","min":12,"max":12}}},
 "cluster":{"pools":[{"name":"serve","engine":{"max_model_len":4096,)" +
                                  engine + "}}]}}",
                              "s.json"),
      "", catalog);
}

// Seconds of one request on its own, step by step, and those at full load that they amount to.
struct Alone {
  double seconds = 0, full_load_s = 0;
};
Alone alone(const scenario::ResolvedPool& pool) {
  const auto cost = scenario::cost_model(pool);
  const auto power = cost::power_of(pool.gpu);
  const cost::StepFill fill(pool.model);
  Alone out;
  for (int step = 0; step < 12; ++step) {
    cost::StepShape shape;
    if (step == 0)
      fill.add_chunk(shape, 0, 500, 1);
    else
      fill.add_decode(shape, 499 + step);
    const cost::StepBill bill = cost->bill(shape);
    out.seconds += bill.seconds;
    out.full_load_s += power->load(bill) * bill.seconds;
  }
  return out;
}

}  // namespace

TEST_CASE(
    "the energy of a few requests far apart is idle power over the run and their steps on top") {
  for (const auto& c : {std::tuple{R"("gpu":"h100-sxm")", 1, 1},
                        std::tuple{R"("gpu":"h100-sxm","tensor_parallel_size":2)", 2, 2},
                        std::tuple{R"("gpu":"a100-sxm-80g","pipeline_parallel_size":2)", 1, 2}}) {
    const std::string engine = std::get<0>(c);
    const int sharing = std::get<1>(c), gpus = std::get<2>(c);
    CAPTURE(engine);
    const scenario::Resolved s = resolve(engine);
    const auto result = scenario::run(s);
    const Alone one = alone(s.pools[0]);
    const double limit = s.pools[0].gpu.tdp_w, idle = 0.15 * limit;
    CHECK(result.engines[0].busy_s == doctest::Approx(3 * one.seconds).epsilon(1e-6));
    const double joules =
        gpus * idle * result.summary.duration + sharing * (limit - idle) * 3 * one.full_load_s;
    REQUIRE(result.cost.energy_wh);
    CHECK(*result.cost.energy_wh == doctest::Approx(joules / 3600).epsilon(1e-6));
    CHECK(*result.cost.energy_wh_per_million_output_tokens ==
          doctest::Approx(joules / 3600 / 36 * 1e6).epsilon(1e-6));
    // Most of it is waiting, so that the mean is near the floor, and never below.
    CHECK(*result.engines[0].mean_power_w > idle);
    CHECK(*result.engines[0].mean_power_w < 1.05 * idle);
  }
}

TEST_CASE("energy is not stated where the load of steps or the power limit is unknown") {
  CHECK_FALSE(scenario::run(resolve(R"("gpu":"h100-sxm","cost":{"kind":"constant","step":"10ms"})"))
                  .cost.energy_wh.has_value());
  scenario::Resolved s = resolve(R"("gpu":"h100-sxm")");
  s.pools[0].gpu.tdp_w = 0;
  const auto result = scenario::run(s);
  CHECK_FALSE(result.engines[0].mean_power_w.has_value());
  CHECK_FALSE(result.cost.energy_wh.has_value());
  CHECK_FALSE(result.cost.energy_wh_per_million_output_tokens.has_value());
}
