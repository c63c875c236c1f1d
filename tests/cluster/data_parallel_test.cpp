#include <doctest/doctest.h>

#include <map>

#include "cluster/placement.h"
#include "cluster/routers/routers.h"
#include "cluster/routers/vllm_dp.h"
#include "cluster/simulation.h"
#include "engine/registry.h"
#include "workload/trace/format.h"

using namespace kvsim;

namespace {

cluster::EngineLoad load(std::int64_t waiting, std::int64_t running, double kv_usage,
                         std::int64_t inflight = 0) {
  return {inflight, 0, {waiting, running, kv_usage}};
}

Time at_ms(std::int64_t ms) { return Time(ms * 1'000'000); }

workload::RequestSpec request() {
  workload::RequestSpec r;
  r.id = "r", r.prompt_tokens = 10;
  return r;
}

// One replica whose ranks have steps of the given seconds.
struct Ranks {
  Ranks(const std::string& requests, const std::vector<int>& seconds, cluster::Stepping stepping)
      : source(workload::open_trace_text(requests, "kvsim", "requests.jsonl")),
        recorder(options(seconds.size())) {
    engine::SchedulerLimits limits;
    limits.max_num_seqs = 8;
    limits.max_num_batched_tokens = 1024;
    limits.max_model_len = 4096;
    limits.num_blocks = 1000;
    std::vector<std::unique_ptr<engine::Engine>> list;
    for (const int s : seconds) {
      engine::EngineSetup setup;
      setup.profile = engine::find_profile("vllm-v1");
      setup.limits = limits;
      setup.cost = cost::make_constant(Duration(s * ns_per_second));
      setup.model = &model;
      setup.engine_index = static_cast<int>(list.size());
      list.push_back(std::make_unique<engine::Engine>(setup, recorder, &log));
    }
    cluster::Simulation::Options how;
    how.replicas = {{0, static_cast<std::uint32_t>(seconds.size()), stepping}};
    simulation.emplace(std::move(list), cluster::find_router("round-robin")->make(), *source,
                       recorder, std::move(how));
    CHECK(simulation->run());
  }
  static metrics::RecorderOptions options(std::size_t engines) {
    metrics::RecorderOptions o;
    o.engine_blocks.assign(engines, 999);
    return o;
  }
  // The seconds at which the steps of an engine start.
  class Log final : public engine::StepSink {
   public:
    std::map<int, std::vector<std::int64_t>> starts;
    std::map<std::string, int> engine_of;
    void step(const Step& s) override {
      starts[s.engine].push_back(s.start.nanoseconds() / ns_per_second);
      for (const auto& item : s.plan->scheduled)
        engine_of[(*s.requests)[item.slot].spec.id] = s.engine;
    }
  } log;
  spec::ModelSpec model;
  std::unique_ptr<workload::RequestSource> source;
  metrics::Recorder recorder;
  std::optional<cluster::Simulation> simulation;
};

std::string line(const std::string& id, double arrival, int outputs) {
  return "{\"id\":\"" + id + "\",\"prompt\":[[\"" + id +
         "\",10]],\"arrival_s\":" + std::to_string(arrival) +
         ",\"output_tokens\":" + std::to_string(outputs) + "}\n";
}

using Seconds = std::vector<std::int64_t>;

}  // namespace

TEST_SUITE("cluster/data_parallel") {
  TEST_CASE("a full KV cache counts only where requests wait") {  // KV-27
    const std::vector<cluster::EngineLoad> loads{load(0, 10, 0.9), load(2, 5, 0.8)};
    CHECK(cluster::vllm_dp_score(loads[0]) == 10);
    CHECK(cluster::vllm_dp_score(loads[1]) == doctest::Approx(10.6));
    CHECK(cluster::make_vllm_dp()->choose(request(), loads) == 0);
  }

  TEST_CASE("requests in flight count for each client once and more than an older report") {
    CHECK(cluster::vllm_dp_score(load(0, 3, 0.1, 5)) == 5);
    CHECK(cluster::vllm_dp_score(load(0, 3, 0.1, 2)) == 3);
    CHECK(cluster::vllm_dp_score(load(0, 3, 0.1, 2), 4) == 8);
    CHECK(cluster::vllm_dp_score(load(4, 0, 0.4, 0)) == 4);
  }

  TEST_CASE("the scan starts one engine further with each request") {
    const auto router = cluster::make_vllm_dp();
    const std::vector<cluster::EngineLoad> idle(3);
    for (const std::size_t expected : {0U, 1U, 2U, 0U})
      CHECK(router->choose(request(), idle) == expected);
    // The lowest score wins wherever the scan starts.
    const std::vector<cluster::EngineLoad> loads{load(0, 2, 0), load(0, 1, 0), load(0, 2, 0)};
    for (int i = 0; i < 3; ++i) CHECK(router->choose(request(), loads) == 1);
  }

  TEST_CASE("reports are seen at the next tenth of a second and not before") {
    cluster::Placement placement(cluster::make_vllm_dp(), {{0}, {1}});
    placement.advance_to(at_ms(50));
    placement.stepped(0, 0, {0, 10, 0.2});
    placement.advance_to(at_ms(99));
    CHECK(placement.choose(request()) == 0);
    placement.choose(request());
    placement.advance_to(at_ms(100));
    CHECK(placement.choose(request()) == 1);
    CHECK(placement.choose(request()) == 1);
    // What happens at the very instant of a copy comes after it.
    placement.stepped(0, 0, {});
    CHECK(placement.choose(request()) == 1);
    placement.choose(request());
    placement.advance_to(at_ms(250));
    CHECK(placement.choose(request()) == 0);
  }

  TEST_CASE("a replica is chosen by its ranks together and the rank by its own load") {
    cluster::Placement placement(cluster::make_least_requests(), {{0, 2}, {2, 2}});
    placement.sent(0, 10, 3);
    placement.sent(2, 10, 1);
    placement.sent(3, 10, 1);
    CHECK(placement.choose(request()) == 2);
    placement.sent(2, 10, 2);
    placement.sent(3, 10, 2);
    CHECK(placement.choose(request()) == 1);
  }

  TEST_CASE("ranks alone step at their own pace") {
    const Ranks r(line("a", 0, 3) + line("b", 0, 1), {1, 3}, cluster::Stepping::alone);
    CHECK(r.log.starts.at(0) == Seconds{0, 1, 2});
    CHECK(r.log.starts.at(1) == Seconds{0});
    CHECK(r.simulation->now() == Time(3 * ns_per_second));
  }

  TEST_CASE("a step in lockstep lasts as long as that of the slowest rank") {
    const Ranks r(line("a", 0, 3) + line("b", 0, 1), {1, 3}, cluster::Stepping::lockstep);
    CHECK(r.log.starts.at(0) == Seconds{0, 3, 4});
    CHECK(r.log.starts.at(1) == Seconds{0});
    CHECK(r.simulation->now() == Time(5 * ns_per_second));
  }

  TEST_CASE("an idle rank in lockstep takes up a request when the step of the others ends") {
    const std::string requests = line("a", 0, 3) + line("b", 0.5, 1);
    const Ranks together(requests, {2, 1}, cluster::Stepping::lockstep);
    CHECK(together.log.engine_of.at("b") == 1);
    CHECK(together.log.starts.at(1) == Seconds{2});
    const Ranks alone(requests, {2, 1}, cluster::Stepping::alone);
    CHECK(alone.log.starts.at(1) == Seconds{0});
  }
}
