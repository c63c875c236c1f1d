#include "engine/profiles/trtllm/trtllm.h"

#include <doctest/doctest.h>

#include <random>

#include "engine/small_world.h"
#include "support/allocations.h"

using namespace kvsim;
using namespace kvsim::engine;
using kvsim::testing::small_request;
using kvsim::testing::SmallWorld;

namespace {

using Counts = std::map<std::string, std::int64_t>;
using Names = std::vector<std::string>;

SchedulerLimits limits(std::int64_t blocks, CapacitySchedulerPolicy policy =
                                                CapacitySchedulerPolicy::guaranteed_no_evict) {
  SchedulerLimits l;
  l.max_num_seqs = 8;
  l.max_num_batched_tokens = 8192;
  l.max_model_len = 320;
  l.num_blocks = blocks;
  l.block_tokens = 32;
  l.enable_prefix_caching = false;
  l.trtllm.capacity_scheduler_policy = policy;
  return l;
}

// A prompt of the runs (content, length), each from its start.
workload::RequestSpec shared(const std::string& id, std::int64_t index,
                             const std::vector<std::pair<std::string, std::int64_t>>& prompt,
                             std::int64_t output) {
  workload::RequestSpec r = small_request(id, index, 0, output);
  r.prompt.clear();
  for (const auto& part : prompt) {
    r.prompt.push_back({workload::content_id(part.first), 0, part.second});
    r.prompt_tokens += part.second;
  }
  return r;
}

}  // namespace

TEST_SUITE("engine/trtllm") {
  TEST_CASE("no-evict reserves to the last token and stops at the first that does not fit") {
    SmallWorld w("trtllm", limits(10));
    for (const char* id : {"r0", "r1", "r2"}) w.submit(id, 64, 64);
    w.submit("r3", 16, 16);
    w.run_all();
    CHECK(w.at(1).scheduled == Counts{{"r0", 64}, {"r1", 64}});
    CHECK(w.at(1).free_blocks == 6);
    CHECK(w.at(1).refusal == Refusal::kv_blocks);
    for (std::size_t k = 2; k <= 64; ++k) CHECK(w.at(k).scheduled == Counts{{"r0", 1}, {"r1", 1}});
    CHECK(w.at(64).finished == Names{"r0", "r1"});
    CHECK(w.at(65).scheduled == Counts{{"r2", 64}, {"r3", 16}});
    CHECK(w.completed() == 4);
  }

  TEST_CASE("no-evict reserves for the most tokens allowed although a request may stop earlier") {
    SmallWorld w("trtllm", limits(10));
    auto r = small_request("a", 0, 32, 1);
    r.max_tokens = 256;
    w.submit(r);
    auto b = small_request("b", 1, 32, 2);
    b.max_tokens = 64;
    w.submit(b);
    CHECK(w.step().scheduled == Counts{{"a", 32}});
    CHECK(w.step().scheduled == Counts{{"b", 32}});
  }

  TEST_CASE("maximum utilization pauses the newest when the next step does not fit") {
    SmallWorld w("trtllm", limits(10, CapacitySchedulerPolicy::max_utilization));
    for (const char* id : {"r0", "r1", "r2", "r3", "r4"}) w.submit(id, 64, 64);
    w.run_all();
    CHECK(w.at(1).scheduled.size() == 5);
    CHECK(w.at(1).free_blocks == 0);
    CHECK(w.at(2).scheduled == Counts{{"r0", 1}, {"r1", 1}, {"r2", 1}});
    CHECK(w.at(2).preempted == Names{"r4", "r3"});
    CHECK(w.at(2).free_blocks == 1);
    CHECK(w.at(2).waiting == 2);
    CHECK(w.at(33).preempted.empty());
    CHECK(w.at(34).preempted == Names{"r2"});
    CHECK(w.at(34).scheduled == Counts{{"r0", 1}, {"r1", 1}});
    CHECK(w.at(65).scheduled == Counts{{"r2", 97}, {"r3", 65}, {"r4", 65}});
    CHECK(w.at(65).free_blocks == 0);
    CHECK(w.completed() == 5);
  }

  TEST_CASE("a static batch takes nobody in before all of it have ended") {
    SmallWorld w("trtllm", limits(10, CapacitySchedulerPolicy::static_batch));
    w.submit("a", 32, 2);
    w.submit("b", 32, 4);
    w.step();
    w.submit("c", 32, 1);
    w.run_all();
    CHECK(w.at(3).scheduled == Counts{{"b", 1}});
    CHECK(w.at(4).scheduled == Counts{{"b", 1}});
    CHECK(w.at(5).scheduled == Counts{{"c", 32}});
  }

  TEST_CASE(
      "prompts are cut at blocks and get the blocks of the whole prompt with the first chunk") {
    SchedulerLimits l = limits(10);
    l.max_num_batched_tokens = 100;
    SmallWorld w("trtllm", l);
    w.submit("a", 150, 2);
    w.submit("b", 40, 2);
    w.run_all();
    CHECK(w.at(1).scheduled == Counts{{"a", 96}});
    CHECK(w.at(1).free_blocks == 5);
    CHECK(w.at(2).scheduled == Counts{{"a", 54}, {"b", 40}});
    CHECK(w.at(3).scheduled == Counts{{"a", 1}, {"b", 1}});
    CHECK(w.at(3).finished == Names{"a", "b"});
  }

  TEST_CASE("equal progress lets prompts advance side by side") {
    SchedulerLimits l = limits(10);
    l.max_num_batched_tokens = 100;
    l.trtllm.context_chunking_policy = ContextChunkingPolicy::equal_progress;
    SmallWorld w("trtllm", l);
    w.submit("a", 150, 2);
    w.submit("b", 70, 2);
    w.run_all();
    CHECK(w.at(1).scheduled == Counts{{"a", 64}, {"b", 32}});
    CHECK(w.at(2).scheduled == Counts{{"a", 64}, {"b", 32}});
    CHECK(w.at(3).scheduled == Counts{{"a", 22}, {"b", 6}});
  }

  TEST_CASE("a prompt found in the cache is charged whole and computed from the hit") {
    SchedulerLimits l = limits(40);
    l.enable_prefix_caching = true;
    l.max_num_batched_tokens = 100;
    SmallWorld w("trtllm", l);
    w.submit(shared("a", 0, {{"common", 80}}, 1));
    w.run_all();
    w.submit(shared("b", 1, {{"common", 80}, {"b", 60}}, 1));
    w.run_all();
    // 96 tokens are charged; the hit of 80 moves the chunk's end from 96 to 140 at most.
    CHECK(w.at(2).hits == Counts{{"b", 80}});
    CHECK(w.at(2).scheduled == Counts{{"b", 60}});
    w.submit(shared("c", 2, {{"common", 80}}, 2));
    w.step();
    CHECK(w.steps.back().hits == Counts{{"c", 79}});
    CHECK(w.steps.back().scheduled == Counts{{"c", 1}});
  }

  TEST_CASE("a chunk behind a hit ends at a block boundary") {
    SchedulerLimits l = limits(40);
    l.enable_prefix_caching = true;
    l.max_num_batched_tokens = 64;
    SmallWorld w("trtllm", l);
    w.submit(shared("a", 0, {{"common", 40}}, 1));
    w.run_all();
    w.submit(shared("b", 1, {{"common", 40}, {"b", 160}}, 1));
    w.run_all();
    CHECK(w.at(2).hits == Counts{{"b", 40}});
    CHECK(w.at(2).scheduled == Counts{{"b", 56}});
    CHECK(w.at(3).scheduled == Counts{{"b", 64}});
    CHECK(w.at(4).scheduled == Counts{{"b", 40}});
  }

  TEST_CASE("a request waits for a block that another computes and then reuses it") {
    SchedulerLimits l = limits(40);
    l.enable_prefix_caching = true;
    SmallWorld w("trtllm", l);
    w.submit(shared("a", 0, {{"common", 64}, {"a", 10}}, 4));
    w.submit(shared("b", 1, {{"common", 64}, {"b", 10}}, 4));
    w.submit(shared("c", 2, {{"other", 64}}, 4));
    w.run_all();
    CHECK(w.at(1).scheduled == Counts{{"a", 74}, {"c", 64}});
    CHECK(w.at(2).hits == Counts{{"b", 64}});
    CHECK(w.at(2).scheduled == Counts{{"a", 1}, {"b", 10}, {"c", 1}});
  }

  TEST_CASE("a paused request finds what it computed unless somebody took the memory") {
    SchedulerLimits l = limits(10, CapacitySchedulerPolicy::max_utilization);
    l.enable_prefix_caching = true;
    SmallWorld w("trtllm", l);
    for (const char* id : {"r0", "r1", "r2", "r3", "r4"}) w.submit(id, 64, 64);
    w.run_all();
    CHECK(w.at(2).preempted == Names{"r4", "r3"});
    CHECK(w.completed() == 5);
    std::int64_t hits = 0;
    for (const auto& step : w.steps)
      for (const auto& hit : step.hits) hits += hit.second;
    CHECK(hits > 0);
  }

  TEST_CASE("evicted blocks come back from the host") {
    SchedulerLimits l = limits(4);
    l.enable_prefix_caching = true;
    l.host_blocks = 8;
    l.max_model_len = 128;
    SmallWorld w("trtllm", l);
    w.submit("a", 100, 2);
    w.run_all();
    w.submit("b", 100, 2);
    w.run_all();
    CHECK(w.steps.back().host_used == 4 * 32);
    w.submit(shared("c", 2, {{"a", 100}}, 2));
    w.step();
    CHECK(w.steps.back().hits == Counts{{"c", 99}});
    CHECK(w.steps.back().loaded == Counts{{"c", 99}});
  }

  TEST_CASE("what no empty engine could run is refused with the reason") {
    SchedulerLimits l = limits(4);
    SmallWorld w("trtllm", l);
    auto r = small_request("r", 0, 100, 1);
    CHECK_FALSE(w.engine().why_unservable(r).has_value());
    r.max_tokens = 29;
    CHECK(w.engine().why_unservable(r)->find("5 KV blocks of 32 tokens and the pool has 4") !=
          std::string::npos);
    l.trtllm.capacity_scheduler_policy = CapacitySchedulerPolicy::max_utilization;
    CHECK_FALSE(SmallWorld("trtllm", l).engine().why_unservable(r).has_value());
    l.enable_chunked_prefill = false;
    l.max_num_batched_tokens = 99;
    CHECK(SmallWorld("trtllm", l).engine().why_unservable(r)->find("chunked prefill is off") !=
          std::string::npos);
    l.enable_chunked_prefill = true;
    l.max_num_batched_tokens = 31;
    CHECK(SmallWorld("trtllm", l).engine().why_unservable(r)->find("no chunk") !=
          std::string::npos);
  }

  TEST_CASE("a steady decode step of the trtllm profile allocates nothing") {
    SchedulerLimits l = limits(2000);
    l.max_model_len = 100000;
    l.enable_prefix_caching = true;
    metrics::Recorder recorder{metrics::RecorderOptions{}};
    spec::ModelSpec model;
    EngineSetup s;
    s.profile = find_profile("trtllm");
    s.limits = l;
    s.cost = cost::make_constant(Duration(ns_per_second));
    s.model = &model;
    Engine engine(s, recorder, nullptr);
    for (int i = 0; i < 8; ++i) {
      auto r = small_request("r" + std::to_string(i), i, 100 + i, 4000);
      recorder.arrived(r.index, r.arrival);
      engine.submit(r, true);
    }
    Time now;
    const auto step = [&] {
      now = now + engine.begin_step(now);
      engine.end_step(now);
    };
    for (int i = 0; i < 400; ++i) step();
    const std::size_t before = kvsim::testing::allocations();
    for (int i = 0; i < 1000; ++i) step();
    CHECK(kvsim::testing::allocations() == before);
  }

  TEST_CASE("no block is in two places and promises are kept in every step of random worlds") {
    std::mt19937 random(11);
    const auto draw = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    for (int world = 0; world < 150; ++world) {
      CAPTURE(world);
      const auto policy = static_cast<CapacitySchedulerPolicy>(draw(0, 2));
      SchedulerLimits l = limits(draw(12, 30), policy);
      l.block_tokens = draw(2, 16);
      l.max_model_len = l.num_blocks * l.block_tokens;
      l.max_num_seqs = draw(1, 8);
      l.enable_prefix_caching = draw(0, 3) > 0;
      l.enable_chunked_prefill = draw(0, 3) > 0;
      l.max_num_batched_tokens = l.enable_chunked_prefill ? draw(16, 64) : 600;
      l.host_blocks = draw(0, 1) * draw(1, 20);
      l.trtllm.context_chunking_policy = static_cast<ContextChunkingPolicy>(draw(0, 1));
      l.trtllm.copy_on_partial_reuse = draw(0, 3) > 0;
      l.trtllm.decode_retention_priority = draw(0, 100);
      SmallWorld w("trtllm", l);
      std::int64_t submitted = 0, computed = 0, expected = 0, hits = 0, lost = 0;
      for (int i = 0; i < 25; ++i) {
        auto r = shared("r" + std::to_string(i), i,
                        {{"common" + std::to_string(draw(0, 2)), draw(1, 50)},
                         {"own" + std::to_string(draw(0, 9)), draw(1, 30)}},
                        draw(1, 40));
        r.max_tokens += draw(0, 5);
        if (w.engine().why_unservable(r)) continue;
        expected += std::min(r.prompt_tokens + r.output_tokens, l.max_model_len) - 1;
        ++submitted;
        w.submit(r);
        if (draw(0, 1)) w.step();
      }
      w.run_all(5000);
      REQUIRE(w.completed() == submitted);
      CHECK(w.engine().profile().free_blocks() == l.num_blocks);
      for (const auto& step : w.steps) {
        std::int64_t tokens = 0;
        for (const auto& item : step.scheduled) tokens += item.second;
        CHECK(tokens <= l.max_num_batched_tokens);
        CHECK(static_cast<std::int64_t>(step.scheduled.size()) <= l.max_num_seqs);
        computed += tokens;
        for (const auto& hit : step.hits) hits += hit.second;
        lost += step.lost;
        if (policy != CapacitySchedulerPolicy::max_utilization) CHECK(step.preempted.empty());
      }
      CHECK(computed + hits == expected + lost);
    }
  }
}
