#include <doctest/doctest.h>

#include "engine/small_world.h"

// The scheduler scenarios of data/conformance/scenarios.md, step by step.

using namespace kvsim;
using kvsim::testing::SmallWorld;

namespace {

using Counts = std::map<std::string, std::int64_t>;
using Names = std::vector<std::string>;

engine::SchedulerLimits limits(std::int64_t num_blocks, std::int64_t budget) {
  engine::SchedulerLimits l;
  l.max_num_seqs = 128;
  l.max_num_batched_tokens = budget;
  l.max_model_len = 8192;
  l.num_blocks = num_blocks;
  return l;
}

// `id` with the first tokens of a prompt that all such requests share.
workload::RequestSpec shared(const std::string& id, std::int64_t index, std::int64_t prompt,
                             std::int64_t output) {
  workload::RequestSpec r = testing::small_request(id, index, prompt, output);
  r.prompt[0].content = workload::content_id("same");
  return r;
}

std::int64_t preemptions(const SmallWorld& w) {
  std::int64_t count = 0;
  for (const auto& step : w.steps) count += static_cast<std::int64_t>(step.preempted.size());
  return count;
}

}  // namespace

TEST_SUITE("engine/vllm_scenarios") {
  TEST_CASE("a long prefill takes no more than the threshold of a step") {  // KV-04
    auto l = limits(1000, 1024);
    l.long_prefill_token_threshold = 400;
    l.enable_prefix_caching = false;
    SmallWorld w("vllm-v1", l);
    for (const char* id : {"r0", "r1", "r2"}) w.submit(id, 800, 16);
    CHECK(w.step().scheduled == Counts{{"r0", 400}, {"r1", 400}, {"r2", 224}});
    CHECK(w.step().scheduled == Counts{{"r0", 400}, {"r1", 400}, {"r2", 224}});
    CHECK(w.step().scheduled == Counts{{"r0", 1}, {"r1", 1}, {"r2", 352}});
  }

  TEST_CASE("running requests come before waiting ones") {  // KV-05
    SmallWorld w("vllm-v1", limits(1000, 512));
    w.submit("r0", 10, 50);
    CHECK(w.step().scheduled == Counts{{"r0", 10}});
    w.submit("r1", 800, 50);
    CHECK(w.step().scheduled == Counts{{"r0", 1}, {"r1", 511}});
    CHECK(w.step().scheduled == Counts{{"r0", 1}, {"r1", 289}});
    CHECK(w.step().scheduled == Counts{{"r0", 1}, {"r1", 1}});
  }

  TEST_CASE("without chunked prefill the first prompt that does not fit holds all behind it") {
    auto l = limits(1000, 450);  // KV-06
    l.enable_chunked_prefill = false;
    SmallWorld w("vllm-v1", l);
    w.submit("r0", 400, 16);
    w.submit("r1", 100, 16);
    w.submit("r2", 20, 16);
    CHECK(w.step().scheduled == Counts{{"r0", 400}});
    CHECK(w.step().scheduled == Counts{{"r0", 1}, {"r1", 100}, {"r2", 20}});
  }

  TEST_CASE("equal prompts admitted in one step share their full blocks") {  // KV-07
    SmallWorld w("vllm-v1", limits(1000, 8192));
    w.submit(shared("r0", 0, 100, 4));
    w.submit(shared("r1", 1, 100, 4));
    w.step();
    CHECK(w.at(1).scheduled == Counts{{"r0", 100}, {"r1", 4}});
    CHECK(w.at(1).hits == Counts{{"r1", 96}});
    CHECK(w.at(1).free_blocks == 991);

    SmallWorld narrow("vllm-v1", limits(1000, 64));
    narrow.submit(shared("r0", 0, 100, 4));
    narrow.submit(shared("r1", 1, 100, 4));
    CHECK(narrow.step().scheduled == Counts{{"r0", 64}});
    CHECK(narrow.step().scheduled == Counts{{"r0", 36}, {"r1", 4}});
    CHECK(narrow.at(2).hits == Counts{{"r1", 96}});
  }

  TEST_CASE("a preempted request keeps its outputs and finds what nobody took of its blocks") {
    for (const bool caching : {true, false}) {  // KV-08
      auto l = limits(9, 8192);
      l.enable_prefix_caching = caching;
      SmallWorld w("vllm-v1", l);
      w.submit("r0", 60, 40);
      w.submit("r1", 60, 40);
      w.run_all();
      CHECK(w.at(1).scheduled == Counts{{"r0", 60}, {"r1", 60}});
      CHECK(w.at(1).free_blocks == 0);
      CHECK(w.at(5).scheduled == Counts{{"r0", 1}, {"r1", 1}});
      CHECK(w.at(6).preempted == Names{"r1"});
      CHECK(w.at(6).scheduled == Counts{{"r0", 1}});
      CHECK(w.at(6).free_blocks == 3);
      CHECK(w.at(40).finished == Names{"r0"});
      CHECK(w.at(41).hits == (caching ? Counts{{"r1", 16}} : Counts{}));
      CHECK(w.at(41).scheduled == Counts{{"r1", caching ? 49 : 65}});
      CHECK(w.at(75).finished == Names{"r1"});
      CHECK(preemptions(w) == 1);
    }
  }

  TEST_CASE("the gate on the full input waits where the first chunk would fit") {  // KV-09
    SmallWorld w("vllm-v1", limits(17, 64));
    w.submit("r0", 100, 8);
    w.submit("r1", 160, 4);
    w.run_all();
    CHECK(w.at(1).scheduled == Counts{{"r0", 64}});
    CHECK(w.at(2).scheduled == Counts{{"r0", 36}});
    CHECK(w.at(2).refusal == engine::Refusal::kv_blocks);
    CHECK(w.at(9).finished == Names{"r0"});
    CHECK(w.at(10).scheduled == Counts{{"r1", 64}});
    CHECK(w.at(12).scheduled == Counts{{"r1", 32}});
    CHECK(w.at(15).finished == Names{"r1"});
    CHECK(preemptions(w) == 0);
  }

  TEST_CASE("without the gate a prompt admitted on its first chunk is preempted again and again") {
    auto l = limits(17, 64);  // KV-09
    l.reserve_full_input = false;
    SmallWorld w("vllm-v1", l);
    w.submit("r0", 100, 8);
    w.submit("r1", 160, 4);
    w.run_all();
    CHECK(w.at(2).scheduled == Counts{{"r0", 36}, {"r1", 28}});
    CHECK(w.at(3).scheduled == Counts{{"r0", 1}, {"r1", 63}});
    CHECK(w.at(4).preempted == Names{"r1"});
    CHECK(w.at(5).scheduled == Counts{{"r0", 1}, {"r1", 63}});
    CHECK(w.at(5).hits == Counts{{"r1", 80}});
    CHECK(w.at(6).preempted == Names{"r1"});
    CHECK(w.at(10).scheduled == Counts{{"r1", 32}});
    CHECK(w.at(10).hits == Counts{{"r1", 128}});
    CHECK(w.at(13).finished == Names{"r1"});
    CHECK(preemptions(w) == 2);
  }

  TEST_CASE("a drafter on hidden states gives up a block of the hit and takes slots ahead") {
    for (const bool drafts : {true, false}) {  // KV-13
      auto l = limits(101, 8192);
      if (drafts) {
        l.vllm.speculative.emplace();
        l.vllm.speculative->method = engine::SpeculativeMethod::eagle;
        l.vllm.speculative->num_speculative_tokens = 4;
      }
      SmallWorld w("vllm-v1", l);
      w.submit(shared("r0", 0, 48, 1));
      CHECK(w.step().free_blocks == 100 - (drafts ? 4 : 3));
      w.submit(shared("r1", 1, 48, 1));
      CHECK(w.step().hits == Counts{{"r1", drafts ? 16 : 32}});
      w.submit(shared("r2", 2, 37, 1));
      CHECK(w.step().hits == Counts{{"r2", drafts ? 16 : 32}});
    }
  }
}
