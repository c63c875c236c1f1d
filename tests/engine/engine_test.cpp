#include "engine/engine.h"

#include <doctest/doctest.h>

#include "support/allocations.h"

using namespace kvsim;

namespace {

workload::RequestSpec request(std::int64_t index, std::int64_t prompt, std::int64_t output) {
  workload::RequestSpec r;
  r.index = index;
  r.id = "r" + std::to_string(index);
  r.prompt = {{workload::content_id(r.id), 0, prompt}};
  r.prompt_tokens = prompt;
  r.output_tokens = r.max_tokens = output;
  return r;
}

engine::SchedulerLimits limits() {
  engine::SchedulerLimits l;
  l.max_num_seqs = 16;
  l.max_num_batched_tokens = 8192;
  l.max_model_len = 100000;
  l.num_blocks = 10000;
  return l;
}

struct World {
  explicit World(
      const engine::SchedulerLimits& l,
      std::shared_ptr<const cost::CostModel> cost = cost::make_constant(Duration(ns_per_second)),
      engine::StepSink* sink = nullptr)
      : recorder(metrics::RecorderOptions{}), engine(setup(l, std::move(cost)), recorder, sink) {}

  engine::EngineSetup setup(const engine::SchedulerLimits& l,
                            std::shared_ptr<const cost::CostModel> cost) {
    engine::EngineSetup s;
    s.profile = engine::find_profile("vllm-v1");
    s.limits = l;
    s.cost = std::move(cost);
    s.model = &model;
    return s;
  }
  void submit(workload::RequestSpec r) {
    recorder.arrived(r.index, r.arrival);
    engine.submit(r, true);
  }
  void step() {
    now = now + engine.begin_step(now);
    engine.end_step(now);
  }

  spec::ModelSpec model;
  metrics::Recorder recorder;
  engine::Engine engine;
  Time now;
};

// A step takes 1 ms and 1 us per token: the sum over a request's steps is easy to write down.
class LinearCost final : public cost::CostModel {
 public:
  double step_seconds(const cost::StepShape& s) const override {
    return 1e-3 + 1e-6 * static_cast<double>(s.tokens);
  }
  cost::StepBill bill(const cost::StepShape&) const override { return {}; }
  cost::Spread spread(const cost::StepShape&) const override { return {}; }
  cost::Source source() const override { return cost::Source::datasheet; }
  std::string describe() const override { return "linear"; }
};

class PreemptionCounter final : public engine::StepSink {
 public:
  std::int64_t preemptions = 0;
  void step(const Step& s) override {
    preemptions += static_cast<std::int64_t>(s.plan->preempted.size());
  }
};

}  // namespace

TEST_SUITE("engine/engine") {
  TEST_CASE("one request on an empty engine takes exactly the sum of its steps") {
    World w(limits(), std::make_shared<LinearCost>());
    w.submit(request(0, 20000, 50));
    while (w.engine.has_work()) w.step();
    // Chunks of 8192, 8192 and 3616 tokens, the last of which makes the first token; 49 decodes.
    CHECK(w.now == Time((3 * 1'000'000 + 20000 * 1'000) + 49 * 1'001'000));
    CHECK(w.engine.totals().steps == 52);
    CHECK(w.engine.totals().scheduled_tokens == 20000 + 49);
    CHECK(w.recorder.completed() == 1);
    CHECK(w.recorder.gaps().count() == 49);  // between 50 tokens
  }

  TEST_CASE("a steady decode step allocates nothing") {
    World w(limits());
    for (int i = 0; i < 16; ++i) w.submit(request(i, 100 + i, 4000));
    for (int i = 0; i < 400; ++i) w.step();
    // Block boundaries, hash publications and gap samples included.
    const std::size_t before = testing::allocations();
    for (int i = 0; i < 1000; ++i) w.step();
    CHECK(testing::allocations() == before);
  }

  TEST_CASE("a steady decode step of several KV cache groups allocates nothing") {
    engine::SchedulerLimits l = limits();
    l.model_groups = {{kv::GroupKind::full, 16, 0, 0},
                      {kv::GroupKind::sliding_window, 16, 200, 0},
                      {kv::GroupKind::chunked_local, 16, 0, 256},
                      {kv::GroupKind::mamba, 16, 0, 0}};
    World w(l);
    for (int i = 0; i < 16; ++i) w.submit(request(i, 100 + i, 4000));
    for (int i = 0; i < 400; ++i) w.step();
    const std::size_t before = testing::allocations();
    for (int i = 0; i < 1000; ++i) w.step();
    CHECK(testing::allocations() == before);
  }

  TEST_CASE("a crowded pool of several groups serves everyone and gets all its blocks back") {
    for (const bool chunked : {false, true}) {
      for (const bool async : {false, true}) {
        engine::SchedulerLimits l = limits();
        l.num_blocks = 70;
        l.max_model_len = 600;
        l.max_num_batched_tokens = 128;
        l.reserve_full_input = false;
        l.async_scheduling = async;
        l.vllm.speculative.emplace();
        l.vllm.speculative->num_speculative_tokens = 2;
        l.vllm.speculative->accept_pattern = {0, 2, 1};
        l.model_groups = {{kv::GroupKind::full, 16, 0, 0},
                          chunked ? kv::GroupSpec{kv::GroupKind::chunked_local, 16, 0, 64}
                                  : kv::GroupSpec{kv::GroupKind::sliding_window, 16, 50, 0},
                          {kv::GroupKind::mamba, 16, 0, 0}};
        PreemptionCounter counter;
        World w(l, cost::make_constant(Duration(ns_per_second)), &counter);
        for (int i = 0; i < 12; ++i) w.submit(request(i, 40 + 20 * i, 150));
        while (w.engine.has_work()) {
          w.step();
          w.engine.profile().verify();
        }
        CHECK(w.recorder.completed() == 12);
        CHECK(counter.preemptions > 0);
        CHECK(w.engine.profile().free_blocks() == w.engine.profile().usable_blocks());
      }
    }
  }

  TEST_CASE("blocks are conserved in every step of a crowded pool") {
    engine::SchedulerLimits l = limits();
    l.num_blocks = 40;
    l.max_model_len = 600;
    l.max_num_batched_tokens = 128;
    l.reserve_full_input = false;
    World w(l);
    for (int i = 0; i < 12; ++i) w.submit(request(i, 50 + 13 * i, 60 + 7 * i));
    std::int64_t steps = 0;
    for (; w.engine.has_work() && steps < 20000; ++steps) {
      w.step();
      w.engine.profile().verify();
    }
    CHECK_FALSE(w.engine.has_work());
    CHECK(w.recorder.completed() == 12);
    CHECK(w.engine.profile().free_blocks() == 39);
  }

  TEST_CASE(
      "admission on the first chunk preempts again and again and the full input gate never does") {
    // Five prompts of 1,000 tokens over a pool of 1,600.
    for (const bool gate : {true, false}) {
      engine::SchedulerLimits l = limits();
      l.num_blocks = 101;
      l.max_model_len = 1600;
      l.max_num_batched_tokens = 256;
      l.enable_prefix_caching = false;
      l.reserve_full_input = gate;
      PreemptionCounter counter;
      World w(l, cost::make_constant(Duration(ns_per_second)), &counter);
      for (int i = 0; i < 5; ++i) w.submit(request(i, 1000, 8));
      for (int i = 0; i < 5000 && w.engine.has_work(); ++i) w.step();
      CHECK_FALSE(w.engine.has_work());
      CHECK((counter.preemptions == 0) == gate);
    }
  }

  TEST_CASE("a request that can never run is named with the reason") {
    engine::SchedulerLimits l = limits();
    l.num_blocks = 11;
    l.max_model_len = 4096;
    World w(l);
    CHECK_FALSE(w.engine.why_unservable(request(0, 100, 61)).has_value());  // 160 slots: 10 blocks
    CHECK(w.engine.why_unservable(request(0, 100, 62))->find("11 KV blocks") != std::string::npos);
    CHECK(w.engine.why_unservable(request(0, 4096, 1))->find("max_model_len 4096") !=
          std::string::npos);
    l.enable_chunked_prefill = false;
    l.max_num_batched_tokens = 64;
    CHECK(World(l).engine.why_unservable(request(0, 65, 1))->find("chunked prefill is off") !=
          std::string::npos);
  }
}

TEST_CASE("drafts that pad an admission past a block are not hashed before they exist") {
  engine::SchedulerLimits l = limits();
  engine::SpeculativeOptions drafts;
  drafts.num_speculative_tokens = 15;
  drafts.accept_pattern = {0};
  l.vllm.speculative = drafts;
  World w(l);
  w.submit(request(0, 1, 3));
  w.step();
  w.step();
  w.submit(request(1, 1, 2));  // one token and 15 drafts fill a block
  while (w.engine.has_work()) w.step();
  CHECK(w.recorder.completed() == 2);
}
