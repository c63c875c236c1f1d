#include "cluster/simulation.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "workload/trace/format.h"

using namespace kvsim;

namespace {

// Engines with steps of one second over a request list given as text.
struct World {
  explicit World(const std::string& requests, int engines = 1,
                 std::string_view router = "round-robin",
                 cluster::OnUnservable unservable = cluster::OnUnservable::error,
                 Duration request_delay = {})
      : source(workload::open_trace_text(requests, "kvsim", "requests.jsonl")),
        recorder(options(engines)) {
    engine::SchedulerLimits limits;
    limits.max_num_seqs = 8;
    limits.max_num_batched_tokens = 1024;
    limits.max_model_len = 4096;
    limits.num_blocks = 1000;
    std::vector<std::unique_ptr<engine::Engine>> list;
    for (int i = 0; i < engines; ++i) {
      engine::EngineSetup setup;
      setup.profile = engine::find_profile("vllm-v1");
      setup.limits = limits;
      setup.cost = cost::make_constant(Duration(ns_per_second));
      setup.model = &model;
      setup.engine_index = i;
      setup.request_delay = request_delay;
      list.push_back(std::make_unique<engine::Engine>(setup, recorder, &log));
    }
    cluster::Simulation::Options how;
    how.on_unservable = unservable;
    simulation.emplace(std::move(list), cluster::find_router(router)->make(), *source, recorder,
                       std::move(how));
  }
  static metrics::RecorderOptions options(int engines) {
    metrics::RecorderOptions o;
    o.engine_blocks.assign(static_cast<std::size_t>(engines), 999);
    o.keep_requests = true;
    return o;
  }

  // First step that scheduled each request, as "engine:start in seconds".
  class Log final : public engine::StepSink {
   public:
    std::map<std::string, std::string> first;
    std::vector<std::string> order;
    void step(const Step& s) override {
      for (const auto& item : s.plan->scheduled) {
        const std::string& id = (*s.requests)[item.slot].spec.id;
        const auto seconds = std::to_string(s.start.nanoseconds() / ns_per_second);
        if (first.try_emplace(id, std::to_string(s.engine) + ":" + seconds).second)
          order.push_back(id);
      }
    }
  } log;
  spec::ModelSpec model;
  std::unique_ptr<workload::RequestSource> source;
  metrics::Recorder recorder;
  std::optional<cluster::Simulation> simulation;
};

std::string line(const std::string& id, const std::string& rest) {
  return "{\"id\":\"" + id + "\",\"prompt\":[[\"" + id + "\",10]]," + rest + "}\n";
}

// What each request of a list saw, in its order.
std::vector<metrics::RequestRow> rows(const std::string& requests, Duration request_delay) {
  World w(requests, 1, "round-robin", cluster::OnUnservable::error, request_delay);
  CHECK(w.simulation->run());
  metrics::RunResult result;
  result.engines.resize(1);
  w.recorder.finish(result, w.simulation->now());
  return result.requests;
}

}  // namespace

TEST_SUITE("cluster/simulation") {
  TEST_CASE("an arrival at the end of a step joins the step that starts then") {
    World w(line("a", R"("arrival_s":0,"output_tokens":5)") +
            line("b", R"("arrival_s":1,"output_tokens":1)") +
            line("c", R"("arrival_s":1.5,"output_tokens":1)"));
    CHECK(w.simulation->run());
    CHECK(w.log.first["a"] == "0:0");
    CHECK(w.log.first["b"] == "0:1");
    CHECK(w.log.first["c"] == "0:2");
    CHECK(w.simulation->now() == Time(5 * ns_per_second));
  }

  TEST_CASE("an idle engine starts at the arrival and idle time makes no step") {
    World w(line("a", R"("arrival_s":0,"output_tokens":1)") +
            line("b", R"("arrival_s":7.25,"output_tokens":1)"));
    CHECK(w.simulation->run());
    CHECK(w.simulation->now() == Time(8'250'000'000));
    CHECK(w.simulation->engines()[0]->totals().steps == 2);
  }

  TEST_CASE(
      "requests that follow others arrive after their end and their pause in the order of the "
      "list") {
    World w(line("a", R"("arrival_s":0,"output_tokens":2)") +
            line("late", R"("arrival_s":0,"after":"a","think_s":2,"output_tokens":1)") +
            line("b", R"("arrival_s":0,"after":"a","output_tokens":1)") +
            line("c", R"("arrival_s":2,"output_tokens":1)"));
    CHECK(w.simulation->run());
    CHECK(w.log.first["b"] == "0:2");
    CHECK(w.log.first["c"] == "0:2");
    CHECK(w.log.first["late"] == "0:4");
    CHECK(w.log.order == std::vector<std::string>{"a", "b", "c", "late"});
  }

  TEST_CASE("round robin and least requests spread a burst over all engines") {
    std::string burst;
    for (int i = 0; i < 6; ++i)
      burst += line("r" + std::to_string(i), R"("arrival_s":0,"output_tokens":3)");
    for (const char* router : {"round-robin", "least-requests", "least-tokens", "session-sticky"}) {
      World w(burst, 3, router);
      CHECK(w.simulation->run());
      std::map<char, int> per_engine;
      for (const auto& [id, where] : w.log.first) ++per_engine[where[0]];
      const std::map<char, int> even{{'0', 2}, {'1', 2}, {'2', 2}};
      CHECK_MESSAGE(per_engine == even, router);
    }
  }

  TEST_CASE("least requests avoids the engine that is still busy") {
    World w(line("long", R"("arrival_s":0,"output_tokens":50)") +
                line("b", R"("arrival_s":0,"output_tokens":1)") +
                line("c", R"("arrival_s":5,"output_tokens":1)") +
                line("d", R"("arrival_s":7,"output_tokens":1)"),
            2, "least-requests");
    CHECK(w.simulation->run());
    CHECK(w.log.first["long"] == "0:0");
    CHECK(w.log.first["c"] == "1:5");
    CHECK(w.log.first["d"] == "1:7");
  }

  TEST_CASE("a session stays where its first request went") {
    World w(line("a", R"("arrival_s":0,"output_tokens":1,"session":"s")") +
                line("b", R"("arrival_s":0,"output_tokens":1)") +
                line("c", R"("arrival_s":3,"output_tokens":1,"session":"s")") +
                line("d", R"("arrival_s":6,"output_tokens":1,"session":"s")"),
            2, "session-sticky");
    CHECK(w.simulation->run());
    CHECK(w.log.first["a"][0] == w.log.first["c"][0]);
    CHECK(w.log.first["a"][0] == w.log.first["d"][0]);
  }

  TEST_CASE("a request that can never be served is an error or counted as failed") {
    const std::string requests =
        line("a", R"("arrival_s":0,"output_tokens":1)") +
        R"({"id":"huge","arrival_s":1,"prompt":[["h",5000]],"output_tokens":1})" + "\n" +
        line("next", R"("arrival_s":1,"after":"huge","output_tokens":1)");
    World strict(requests);
    CHECK_THROWS_AS(strict.simulation->run(), InputError);
    World lenient(requests, 1, "round-robin", cluster::OnUnservable::reject);
    CHECK(lenient.simulation->run());
    metrics::RunResult result;
    result.engines.resize(1);
    lenient.recorder.finish(result, lenient.simulation->now());
    CHECK(result.summary.completed == 2);
    CHECK(result.summary.failed == 1);
    REQUIRE(result.failures.size() == 1);
    CHECK(result.failures[0].id == "huge");
    CHECK(lenient.log.first["next"] == "0:1");
  }

  TEST_CASE("a request delay shifts lone requests by exactly that much") {
    std::string apart;
    for (int i = 0; i < 5; ++i)
      apart += line("r" + std::to_string(i),
                    fmt::format(R"("arrival_s":{},"output_tokens":{})", 20 * i, 1 + i));
    const std::vector<metrics::RequestRow> direct = rows(apart, Duration{});
    const std::vector<metrics::RequestRow> delayed = rows(apart, Duration(350'000'000));
    REQUIRE(direct.size() == 5);
    REQUIRE(delayed.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      CAPTURE(i);
      CHECK(direct[i].first_token - direct[i].arrival == Duration(ns_per_second));
      CHECK(delayed[i].first_token - delayed[i].arrival == Duration(1'350'000'000));
      // The first token comes later, the gaps between tokens stay.
      CHECK(delayed[i].end - direct[i].end == Duration(350'000'000));
      CHECK(delayed[i].gaps == direct[i].gaps);
    }
  }

  TEST_CASE("a request delay keeps the order of arrivals and their first steps") {
    std::string burst;
    for (int i = 0; i < 30; ++i)
      burst += line("r" + std::to_string(i),
                    fmt::format(R"("arrival_s":{},"output_tokens":{})", i / 4, 1 + i % 7));
    World direct(burst),
        delayed(burst, 1, "round-robin", cluster::OnUnservable::error, Duration(2 * ns_per_second));
    CHECK(direct.simulation->run());
    CHECK(delayed.simulation->run());
    CHECK(delayed.log.order == direct.log.order);
    // The same schedule, later by the delay.
    CHECK(delayed.simulation->now() == direct.simulation->now() + Duration(2 * ns_per_second));
    for (const auto& request : direct.log.first) {
      CAPTURE(request.first);
      const int second = std::stoi(request.second.substr(2));
      CHECK(delayed.log.first.at(request.first) == "0:" + std::to_string(second + 2));
    }
  }

  TEST_CASE("routers count requests that an engine has not yet taken off the wire") {
    std::string burst;
    for (int i = 0; i < 6; ++i)
      burst += line("r" + std::to_string(i),
                    fmt::format(R"("arrival_s":{},"output_tokens":30)", 0.1 * i));
    World w(burst, 3, "least-requests", cluster::OnUnservable::error, Duration(ns_per_second));
    CHECK(w.simulation->run());
    std::map<char, int> per_engine;
    for (const auto& [id, where] : w.log.first) ++per_engine[where[0]];
    CHECK(per_engine == std::map<char, int>{{'0', 2}, {'1', 2}, {'2', 2}});
  }

  TEST_CASE("requests that follow others pay the delay once each") {
    World w(line("a", R"("arrival_s":0,"output_tokens":2)") +
                line("b", R"("arrival_s":0,"after":"a","think_s":1,"output_tokens":1)"),
            1, "round-robin", cluster::OnUnservable::error, Duration(3 * ns_per_second));
    CHECK(w.simulation->run());
    CHECK(w.log.first["a"] == "0:3");
    CHECK(w.log.first["b"] == "0:9");  // ends at 5, thinks until 6, on the wire until 9
  }

  TEST_CASE("a stop flag ends the run early and says so") {
    World w(line("a", R"("arrival_s":0,"output_tokens":3)"));
    std::atomic<bool> stop{true};
    cluster::Simulation::Options how;
    how.stop = &stop;
    cluster::Simulation stopped({}, cluster::find_router("round-robin")->make(), *w.source,
                                w.recorder, std::move(how));
    CHECK_FALSE(stopped.run());
  }
}
