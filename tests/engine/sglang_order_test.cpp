// In which order the sglang profile admits who waits (KV-22 of the conformance scenarios).
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "engine/sglang_world.h"

using namespace kvsim;
using namespace kvsim::testing::sglang;

TEST_SUITE("engine/sglang") {
  TEST_CASE("lpm puts the longest cached prefix first and followers of a leader last") {
    // KV-22: A 500 tokens, B shares 200 with it, C finds 100 cached, D is short and alone.
    for (const auto policy : {engine::SchedulePolicy::lpm, engine::SchedulePolicy::fcfs}) {
      engine::SchedulerLimits l = limits(8000);
      l.sglang.schedule_policy = policy;
      World w(l);
      w.submit({{"c", 100}}, 1);
      w.run();
      w.submit({{"a", 500}}, 2);
      w.submit({{"a", 200}, {"b", 50}}, 2);
      w.submit({{"c", 300}}, 2);
      w.submit({{"d", 40}}, 2);
      const Names expected = policy == engine::SchedulePolicy::lpm ? Names{"r3", "r1", "r4", "r2"}
                                                                   : Names{"r1", "r2", "r3", "r4"};
      CHECK(w.step().order == expected);
      CHECK(w.steps.back().hits.at("r3") == 100);
      w.run();
    }
  }

  TEST_CASE("lpm keeps the order of arrival beyond 128 waiting requests") {
    for (const int others : {125, 126}) {
      engine::SchedulerLimits l = limits(100000);
      l.max_num_seqs = 4;
      l.sglang.schedule_policy = engine::SchedulePolicy::lpm;
      World w(l);
      w.submit({{"c", 100}}, 1);
      w.run();
      std::vector<std::string> names;
      for (int i = 0; i < others; ++i) names.push_back("x" + std::to_string(i));
      w.submit({{"first", 20}}, 1);
      for (const std::string& name : names) w.submit({{name.c_str(), 40}}, 1);
      w.submit({{"other", 20}}, 1);
      w.submit({{"c", 300}}, 1);
      CHECK(w.step().order.front() == (others == 125 ? "r" + std::to_string(others + 3) : "r1"));
      w.run();
    }
  }

  TEST_CASE("dfs-weight goes through the tree and takes the heavier branch first") {
    engine::SchedulerLimits l = limits(8000);
    l.sglang.schedule_policy = engine::SchedulePolicy::dfs_weight;
    World w(l);
    w.submit({{"s", 50}, {"a", 50}}, 1);
    w.submit({{"s", 50}, {"b", 50}}, 1);
    w.run();
    w.submit({{"s", 50}, {"a", 50}, {"x", 5}}, 1);
    w.submit({{"s", 50}, {"b", 50}, {"y", 5}}, 1);
    w.submit({{"s", 50}, {"z", 5}}, 1);
    w.submit({{"s", 50}, {"b", 50}, {"u", 5}}, 1);
    CHECK(w.step().order == Names{"r3", "r5", "r2", "r4"});
    w.run();
  }

  TEST_CASE("lof admits the longest limit first and routing-key the busiest session") {
    engine::SchedulerLimits l = limits(8000);
    l.sglang.schedule_policy = engine::SchedulePolicy::lof;
    World lof(l);
    lof.submit({{"a", 10}}, 2, 10);
    lof.submit({{"b", 10}}, 2, 30);
    lof.submit({{"c", 10}}, 2, 30);
    CHECK(lof.step().order == Names{"r1", "r2", "r0"});
    lof.run();

    l.sglang.schedule_policy = engine::SchedulePolicy::routing_key;
    World keyed(l);
    const auto with_session = [&](const char* content, const char* session) {
      workload::RequestSpec r = keyed.request({{content, 10}}, 9);
      r.session = session;
      keyed.submit(r);
    };
    with_session("a", "x");
    with_session("b", "y");
    with_session("c", "y");
    keyed.step();
    keyed.step();
    with_session("d", "");
    with_session("e", "x");
    with_session("f", "y");
    CHECK(keyed.step().order == Names{"r5", "r4", "r3"});
    keyed.run();
  }

  TEST_CASE("random order depends on nothing but the arrivals") {
    engine::SchedulerLimits l = limits(8000);
    l.sglang.schedule_policy = engine::SchedulePolicy::random;
    std::vector<Names> orders;
    for (int turn = 0; turn < 2; ++turn) {
      World w(l);
      std::vector<std::string> names;
      for (int i = 0; i < 20; ++i) names.push_back("x" + std::to_string(i));
      for (const std::string& name : names) w.submit({{name.c_str(), 10}}, 2);
      orders.push_back(w.step().order);
      w.run();
    }
    CHECK(orders[0] == orders[1]);
    CHECK_FALSE(std::is_sorted(orders[0].begin(), orders[0].end()));
  }
}
