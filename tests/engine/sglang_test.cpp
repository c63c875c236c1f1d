// The sglang profile through the engine: KV-19 to KV-23 of the conformance scenarios and what must
// hold in every step. The recorded runs of SGLang's own scheduler are replayed in tests/conform.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/profiles/sglang/new_token_ratio.h"
#include "engine/sglang_world.h"
#include "support/allocations.h"

using namespace kvsim;
using namespace kvsim::testing::sglang;

TEST_SUITE("engine/sglang") {
  TEST_CASE("a cached prompt is used up to its last token in whole pages") {
    // KV-19 b: eight tokens, twice.
    struct Row {
      std::int64_t page, hit;
    };
    for (const Row row : {Row{1, 7}, Row{4, 4}, Row{8, 0}}) {
      World w(limits(1024, row.page));
      w.submit({{"same", 8}}, 1);
      w.step();
      w.submit({{"same", 8}}, 1);
      const Seen& second = w.step();
      CHECK(second.hits.at("r1") == row.hit);
      CHECK(second.scheduled.at("r1") == 8 - row.hit);
      w.run();
    }
  }

  TEST_CASE("a finished request leaves all in the tree but its last token and the open page") {
    // KV-19 c: 6 + 3 tokens, 8 of which have KV; with pages of 4 and 10 tokens with KV, 8 stay.
    World small(limits(1024));
    small.submit({{"a", 6}}, 3);
    small.run();
    small.submit({{"b", 1}}, 1);
    CHECK(small.step().radix.evictable == 8);

    World paged(limits(1024, 4));
    paged.submit({{"a", 6}}, 5);
    paged.run();
    paged.submit({{"b", 1}}, 1);
    const Seen& next = paged.step();
    CHECK(next.radix.evictable == 8);
    CHECK(next.radix.available == 1024 - 8 - 4);
  }

  TEST_CASE("with overlap the extra decode keeps the last token in the tree too") {
    engine::SchedulerLimits l = limits(1024);
    l.async_scheduling = true;
    World w(l);
    w.submit({{"a", 6}}, 3);
    w.run();
    CHECK(w.steps.size() == 4);  // prefill, two decodes and one for nothing
    CHECK(w.steps.back().finished.empty());
    w.submit({{"b", 1}}, 1);
    w.step();
    CHECK(w.steps.back().radix.evictable == 9);
  }

  TEST_CASE("retraction takes the fewest outputs and makes room for twenty steps of the others") {
    // KV-20 with limits that admission takes: 2 slots are left when three must decode.
    engine::SchedulerLimits l = limits(682);
    l.sglang.schedule_conservativeness = 0.0001;
    World w(l);
    w.submit({{"b", 200}}, 60);
    w.submit({{"c", 300}}, 60);
    for (int i = 0; i < 11; ++i) w.step();
    w.submit({{"a", 100}}, 60);
    for (int i = 0; i < 21; ++i) CHECK(w.step().preempted.empty());
    CHECK(w.steps.back().radix.available == 2);
    const Seen retraction = w.step();
    CHECK(retraction.preempted == Names{"r2"});
    CHECK(retraction.order == Names{"r0", "r1"});
    // 31 and 31 outputs, 20 more each, of 60 and 60.
    CHECK(retraction.radix.new_token_ratio == doctest::Approx((31 + 31 + 40) / 121.0));
    // Its 20 slots were fewer than 2 * 20, so its whole prompt went as well; two slots are taken.
    CHECK(retraction.radix.available == 2 + 20 + 100 - 2);
    CHECK(retraction.waiting == 1);
    w.run();
    // Back with its 21 outputs, and nothing of it is cached any more.
    const auto again = std::ranges::find_if(w.steps, [](const Seen& x) {
      return x.scheduled.contains("r2") && x.scheduled.at("r2") > 100;
    });
    REQUIRE(again != w.steps.end());
    CHECK(again->scheduled.at("r2") == 121);
    CHECK(again->hits.at("r2") == 0);
  }

  TEST_CASE("mixed chunks share both budgets with the decodes") {
    // KV-21: eight decodes leave 56 of 64 tokens, five leave 59.
    for (const int decodes : {8, 5}) {
      engine::SchedulerLimits l = limits(4000);
      l.sglang.chunked_prefill_size = 64;
      l.sglang.max_prefill_tokens = 200;
      l.sglang.enable_mixed_chunk = true;
      World w(l);
      std::vector<std::string> names(static_cast<std::size_t>(decodes));
      for (int i = 0; i < decodes; ++i) {
        names[static_cast<std::size_t>(i)] = "d" + std::to_string(i);
        w.submit({{names[static_cast<std::size_t>(i)].c_str(), 7}}, 50);
      }
      w.step();
      w.submit({{"q", 56}}, 64);
      w.submit({{"s", 3}}, 8);
      const std::string q = "r" + std::to_string(decodes), s = "r" + std::to_string(decodes + 1);
      const Seen& second = w.step();
      CHECK(second.mode == engine::StepMode::mixed);
      CHECK(second.scheduled.at(q) == 56);
      CHECK(second.scheduled.contains(s) == (decodes == 5));
      CHECK(second.scheduled.at("r0") == 1);
      CHECK(w.step().scheduled.at(s) == (decodes == 5 ? 1 : 3));
      w.run();
    }
  }

  TEST_CASE("without mixed chunks a long prompt stalls all decodes") {
    engine::SchedulerLimits l = limits(4000);
    l.sglang.chunked_prefill_size = 64;
    World w(l);
    w.submit({{"a", 10}}, 20);
    w.step();
    w.step();
    w.submit({{"b", 200}}, 2);
    for (const std::int64_t chunk : {64, 64, 64, 8}) {
      const Seen& s = w.step();
      CHECK(s.mode == engine::StepMode::prefill);
      CHECK(s.scheduled == Amounts{{"r1", chunk}});
    }
    CHECK(w.step().mode == engine::StepMode::decode);
    w.run();
  }

  TEST_CASE("the share that admission reserves decays over 600 steps and starts again when idle") {
    // KV-23.
    engine::sglang::NewTokenRatio ratio(1.0);
    CHECK(ratio.value() == doctest::Approx(0.7));
    for (int i = 0; i < 100; ++i) ratio.decay();
    CHECK(ratio.value() == doctest::Approx(0.599667).epsilon(1e-6));
    for (int i = 0; i < 600; ++i) ratio.decay();
    CHECK(ratio.value() == doctest::Approx(0.098));
    CHECK(engine::sglang::NewTokenRatio(2.0).value() == 1.0);

    World w(limits(1000));
    w.submit({{"a", 10}}, 5);
    w.run();
    CHECK(w.steps.back().radix.new_token_ratio < 0.7);
    w.now = w.now + Duration(ns_per_second);
    w.submit({{"b", 10}}, 5);
    CHECK(w.step().radix.new_token_ratio == doctest::Approx(0.7));
  }

  TEST_CASE("nothing is admitted after a refusal until somebody leaves") {
    // The second waits for slots, and the third, which would fit, does not overtake it.
    World w(limits(200));
    w.submit({{"a", 100}}, 10);
    w.submit({{"b", 150}}, 10);
    w.submit({{"c", 10}}, 2);
    CHECK(w.step().order == Names{"r0"});
    for (int i = 0; i < 9; ++i) CHECK(w.step().order == Names{"r0"});
    CHECK(w.step().order == Names{"r1", "r2"});
    w.run();
  }

  TEST_CASE("priority preemption needs used up seats and more than the threshold") {
    for (const std::int64_t priority : {10, 11}) {
      engine::SchedulerLimits l = limits(1000);
      l.max_num_seqs = 2;
      l.sglang.enable_priority_scheduling = true;
      World w(l);
      w.submit({{"a", 10}}, 20, 20, 0);
      w.submit({{"b", 10}}, 20, 20, 0);
      w.step();
      w.step();
      w.submit({{"c", 10}}, 5, 5, priority);
      const Seen& s = w.step();
      // Of equals the one that queued last gives way.
      CHECK(s.preempted == (priority > 10 ? Names{"r1"} : Names{}));
      CHECK(s.order == (priority > 10 ? Names{"r2"} : Names{"r0", "r1"}));
      w.run();
      CHECK(w.steps.back().finished.size() > 0);
    }
  }

  TEST_CASE("a disabled radix cache finds nothing and keeps nothing") {
    engine::SchedulerLimits l = limits(1000);
    l.sglang.disable_radix_cache = true;
    l.sglang.chunked_prefill_size = 64;
    World w(l);
    w.submit({{"a", 100}}, 3);
    w.run();
    w.submit({{"a", 100}}, 3);
    CHECK(w.step().hits.at("r1") == 0);
    CHECK(w.steps.back().radix.evictable + w.steps.back().radix.locked == 0);
    w.run();
  }

  TEST_CASE("the host pool gives back a prefix that the device has evicted") {
    engine::SchedulerLimits l = limits(300);
    l.sglang.enable_hierarchical_cache = true;
    World w(l);
    w.submit({{"a", 200}}, 2);
    w.run();
    w.submit({{"b", 250}}, 2);
    w.run();
    CHECK(w.steps.back().host_used > 0);
    w.submit({{"a", 200}, {"r0/out", 1}, {"x", 20}}, 2);
    const Seen& s = w.step();
    CHECK(s.loaded == 201);  // the prompt and the first of its outputs
    CHECK(s.hits.at("r2") == 201);
    w.run();
  }

  TEST_CASE("requests that admission could never take are named") {
    World w(limits(100));
    CHECK_FALSE(w.engine().why_unservable(w.request({{"a", 50}}, 40)).has_value());
    CHECK(w.engine().why_unservable(w.request({{"a", 50}}, 49)).has_value());
    // A large limit alone does no harm: it is cut to what the pool leaves.
    CHECK_FALSE(w.engine().why_unservable(w.request({{"a", 50}}, 10, 5000)).has_value());
    CHECK(w.engine().why_unservable(w.request({{"a", 100000}}, 1)).value().find("context_length") !=
          std::string::npos);
  }

  TEST_CASE("slots are conserved under pressure in every mode") {
    for (const std::int64_t page : {1, 16})
      for (const bool overlap : {false, true})
        for (const bool mixed : {false, true})
          for (const int cache : {0, 1, 2}) {
            engine::SchedulerLimits l = limits(640, page);
            l.max_num_seqs = 12;
            l.async_scheduling = overlap;
            l.sglang.chunked_prefill_size = 64;
            l.sglang.enable_mixed_chunk = mixed;
            l.sglang.schedule_conservativeness = 0.3;
            l.sglang.disable_radix_cache = cache == 0;
            l.sglang.enable_hierarchical_cache = cache == 2;
            l.sglang.schedule_policy =
                page == 1 ? engine::SchedulePolicy::lpm : engine::SchedulePolicy::fcfs;
            CAPTURE(page);
            CAPTURE(overlap);
            CAPTURE(mixed);
            CAPTURE(cache);
            World w(l);
            std::vector<std::string> names;
            for (int i = 0; i < 24; ++i) names.push_back("p" + std::to_string(i));
            for (int i = 0; i < 24; ++i) {
              w.submit({{"common", 20 + 3 * (i % 5)},
                        {names[static_cast<std::size_t>(i)].c_str(), 10 + 7 * (i % 6)}},
                       20 + 5 * (i % 9), 90);
              if (i % 3 == 0) w.step();
            }
            w.run();
            std::size_t finished = 0;
            for (const Seen& s : w.steps) finished += s.finished.size();
            CHECK(finished == 24);
          }
  }

  TEST_CASE("a steady decode step of sglang allocates nothing") {
    for (const std::int64_t page : {1, 16}) {
      engine::SchedulerLimits l = limits(400000, page);
      l.max_num_seqs = 64;
      struct Quiet {
        metrics::Recorder recorder{metrics::RecorderOptions{}};
        spec::ModelSpec model;
      } quiet;
      engine::EngineSetup s;
      s.profile = engine::find_profile("sglang");
      s.limits = l;
      s.cost = cost::make_constant(Duration(ns_per_second));
      s.model = &quiet.model;
      engine::Engine e(s, quiet.recorder, nullptr);
      for (std::int64_t i = 0; i < 64; ++i) {
        workload::RequestSpec r;
        r.index = i;
        r.id = "r" + std::to_string(i);
        r.prompt = {{workload::content_id(r.id), 0, 100 + i}};
        r.prompt_tokens = 100 + i;
        r.output_tokens = r.max_tokens = 4000;
        quiet.recorder.arrived(i, Time{});
        e.submit(r, true);
      }
      Time now;
      const auto step = [&] {
        now = now + e.begin_step(now);
        e.end_step(now);
      };
      for (int i = 0; i < 400; ++i) step();
      const std::size_t before = testing::allocations();
      for (int i = 0; i < 1000; ++i) step();
      CHECK(testing::allocations() == before);
    }
  }
}
