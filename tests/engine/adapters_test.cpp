#include <doctest/doctest.h>

#include "engine/small_world.h"

using namespace kvsim;
using kvsim::testing::SmallWorld;

namespace {

using Counts = std::map<std::string, std::int64_t>;
using Names = std::vector<std::string>;

engine::SchedulerLimits limits(std::int64_t max_loras) {
  engine::SchedulerLimits l;
  l.max_num_seqs = 16;
  l.max_num_batched_tokens = 128;
  l.max_model_len = 1024;
  l.num_blocks = 200;
  l.vllm.max_loras = max_loras;
  return l;
}

struct Requests {
  std::int64_t index = 0;
  // `adapter` "" is none.
  workload::RequestSpec operator()(const std::string& id, const std::string& adapter,
                                   std::int64_t prompt, std::int64_t output,
                                   std::int64_t priority = 0) {
    workload::RequestSpec r = testing::small_request(id, index++, prompt, output);
    r.adapter = adapter.empty() ? 0 : workload::content_id(adapter);
    r.priority = priority;
    return r;
  }
};

}  // namespace

TEST_SUITE("engine/adapters") {
  TEST_CASE("requests with one adapter too many are overtaken") {
    Requests make;
    SmallWorld w("vllm-v1", limits(1));
    w.submit(make("r0", "a", 10, 3));
    w.submit(make("r1", "b", 10, 3));
    w.submit(make("r2", "a", 10, 1));
    w.submit(make("r3", "", 10, 1));
    CHECK(w.step().scheduled == Counts{{"r0", 10}, {"r2", 10}, {"r3", 10}});
    CHECK(w.at(1).waiting == 1);
    CHECK(w.step().scheduled == Counts{{"r0", 1}});
    CHECK(w.step().scheduled == Counts{{"r0", 1}});
    CHECK(w.step().scheduled == Counts{{"r1", 10}});
    w.run_all();
    CHECK(w.completed() == 4);
  }

  TEST_CASE("a step serves as many different adapters as the limit says") {
    for (const std::int64_t most : {1, 2, 3, 4}) {
      Requests make;
      SmallWorld w("vllm-v1", limits(most));
      for (const char* id : {"a", "b", "c", "d"}) w.submit(make(id, id, 10, 2));
      CHECK(static_cast<std::int64_t>(w.step().scheduled.size()) == most);
    }
    Requests make;
    auto l = limits(1);
    l.vllm.max_loras.reset();
    SmallWorld w("vllm-v1", l);
    for (const char* id : {"a", "b", "c", "d"}) w.submit(make(id, id, 10, 2));
    CHECK(w.step().scheduled.size() == 4);
  }

  TEST_CASE("skipped requests come first and in their order once they may run") {
    Requests make;
    auto l = limits(1);
    l.max_num_seqs = 2;
    SmallWorld w("vllm-v1", l);
    w.submit(make("r0", "a", 10, 3));
    w.submit(make("r1", "b", 10, 2));
    w.submit(make("r2", "b", 10, 2));
    w.submit(make("r3", "", 10, 3));
    w.submit(make("r4", "", 10, 1));
    CHECK(w.step().scheduled == Counts{{"r0", 10}, {"r3", 10}});
    w.step();
    CHECK(w.step().finished == Names{"r0", "r3"});
    // r4 has never been skipped.
    CHECK(w.step().scheduled == Counts{{"r1", 10}, {"r2", 10}});
    w.step();
    CHECK(w.step().scheduled == Counts{{"r4", 10}});
  }

  TEST_CASE("by priority the more urgent of the skipped and the others comes first") {
    Requests make;
    auto l = limits(1);
    l.priority_policy = true;
    l.max_num_seqs = 1;
    SmallWorld w("vllm-v1", l);
    w.submit(make("r0", "a", 10, 2, 0));
    l.max_num_seqs = 1;
    w.step();
    w.submit(make("r1", "b", 10, 1, 5));
    w.submit(make("r2", "", 10, 1, 1));
    w.submit(make("r3", "b", 10, 1, 3));
    w.run_all();
    CHECK(w.at(3).scheduled == Counts{{"r2", 10}});
    CHECK(w.at(4).scheduled == Counts{{"r3", 10}});
    CHECK(w.at(5).scheduled == Counts{{"r1", 10}});
  }

  TEST_CASE("a preempted request stands behind skipped ones and in 2025 before them") {
    for (const char* profile : {"vllm-v1", "vllm-v1-2025"}) {
      Requests make;
      auto l = limits(1);
      l.num_blocks = 9;
      SmallWorld w(profile, l);
      w.submit(make("r0", "a", 60, 40));
      w.submit(make("r1", "", 60, 40));
      w.step();
      w.submit(make("skipped", "b", 100, 2));
      for (int step = 2; step <= 40; ++step) w.step();
      CHECK(w.at(6).preempted == Names{"r1"});
      CHECK(w.at(40).finished == Names{"r0"});
      const Counts next = w.step().scheduled;
      CHECK(next.count("skipped") == (l.num_blocks == 9 && profile == std::string("vllm-v1")));
      CHECK(next.count("r1") == (profile == std::string("vllm-v1-2025")));
    }
  }

  TEST_CASE("prompts share a cached prefix only under one adapter and one salt") {
    for (const char* profile : {"vllm-v1", "sglang", "trtllm"}) {
      CAPTURE(std::string(profile));
      auto l = limits(8);
      l.sglang.chunked_prefill_size = 128;
      if (profile == std::string("sglang")) l.block_tokens = 1, l.num_blocks = 2000;
      SmallWorld w(profile, l);
      std::int64_t index = 0;
      const auto hit = [&](const char* adapter, std::uint64_t salt) {
        workload::RequestSpec r = testing::small_request("r" + std::to_string(index), index, 65, 1);
        r.prompt[0].content = workload::content_id("same");
        r.adapter = *adapter ? workload::content_id(adapter) : 0;
        r.salt = salt;
        ++index;
        w.submit(std::move(r));
        w.run_all();
        return !w.steps.back().hits.empty();
      };
      CHECK_FALSE(hit("", 0));
      CHECK_FALSE(hit("a", 0));
      CHECK_FALSE(hit("b", 0));
      CHECK_FALSE(hit("a", 7));
      CHECK_FALSE(hit("", 7));
      CHECK(hit("", 0));
      CHECK(hit("a", 0));
      CHECK(hit("b", 0));
      CHECK(hit("a", 7));
      CHECK(hit("", 7));
    }
  }
}
