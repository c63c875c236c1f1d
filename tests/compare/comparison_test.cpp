#include "compare/comparison.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace kvsim;
using namespace kvsim::compare;

namespace {

config::Document run(double ttft, double throughput, int preemptions, int rate = 2,
                     std::int64_t input = 100) {
  return config::Document::parse(
      fmt::format(
          R"({{"schema":"kvsim.run/1","behaviour":1,"complete":true,"scenario":{{"workload":{{"rate":{}}}}},
"summary":{{"p99_ttft_ms":{},"request_throughput":{},"total_input_tokens":{}}},"kv":{{"preemptions":{}}},
"engines":[],"cost":{{"usd_per_million_output_tokens":null}},"verdict":{{}}}})",
          rate, ttft, throughput, input, preemptions),
      "r.json");
}

const Difference& find(const Comparison& c, std::string_view path) {
  for (const Difference& d : c.differences) {
    if (d.path == path) return d;
  }
  FAIL("no such path");
  return c.differences.front();
}

}  // namespace

TEST_CASE("a run compared with itself has no difference") {
  const Comparison c = compare::compare(run(400, 10, 0), run(400, 10, 0), {});
  CHECK(c.count(Change::same) == 5);
  CHECK(c.count(Change::regressed) == 0);
  CHECK(c.same_scenario());
  CHECK(to_text(c).find("Verdict: no regression.") != std::string::npos);
}

TEST_CASE("each figure knows which way is better") {
  const Comparison c = compare::compare(run(400, 10, 0), run(440, 11, 0), {});
  CHECK(find(c, "summary.p99_ttft_ms").change == Change::regressed);
  CHECK(find(c, "summary.p99_ttft_ms").relative == doctest::Approx(0.1));
  CHECK(find(c, "summary.request_throughput").change == Change::improved);
  CHECK(better("summary.p99.9_itl_ms") == Better::lower);
  CHECK(better("std_tpot_ms") == Better::lower);
  CHECK(better("kv.prefix_hit_rate_blocks") == Better::higher);
  CHECK(better("cost.gpu_hours") == Better::lower);
  CHECK(better("summary.total_input_tokens") == Better::neutral);
  CHECK(better("summary.offered_rate") == Better::neutral);
}

TEST_CASE("a change within the tolerance is none") {
  Options options;
  CHECK(compare::compare(run(1000, 1, 0), run(1005, 1, 0), options).count(Change::regressed) == 0);
  CHECK(compare::compare(run(1000, 1, 0), run(1006, 1, 0), options).count(Change::regressed) == 1);
  CHECK(parse_tolerances("ttft_ms=10%,default=0", options.tolerances).empty());
  CHECK(compare::compare(run(1000, 1, 0), run(1100, 1, 0), options).count(Change::regressed) == 0);
  CHECK(compare::compare(run(1000, 1, 0), run(1101, 1, 0), options).count(Change::regressed) == 1);
}

TEST_CASE("a later tolerance overrides an earlier one") {
  Tolerances t;
  CHECK(parse_tolerances("ttft_ms=10%", t).empty());
  CHECK(parse_tolerances("summary.p99_ttft_ms=0.02,default=1%", t).empty());
  CHECK(t.of("summary.p99_ttft_ms") == 0.02);
  CHECK(t.of("summary.p50_ttft_ms") == 0.1);
  CHECK(t.of("kv.preemptions") == 0.01);
}

TEST_CASE("what is no tolerance is refused") {
  Tolerances t;
  for (const char* text : {"x", "=2%", "x=", "x=-1%", "x=many"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_tolerances(text, t).empty());
  }
}

TEST_CASE("a figure that leaves zero regresses whatever its tolerance") {
  const Comparison c = compare::compare(run(400, 10, 0), run(400, 10, 3), {});
  CHECK(find(c, "kv.preemptions").change == Change::regressed);
  CHECK(to_json(c).find("inf") == std::string::npos);
  CHECK_NOTHROW(config::Document::parse(to_json(c), "c.json"));
}

TEST_CASE("figures that describe the load drift and do not regress") {
  const Comparison c = compare::compare(run(400, 10, 0), run(400, 10, 0, 2, 200), {});
  CHECK(find(c, "summary.total_input_tokens").change == Change::drifted);
  CHECK(c.count(Change::regressed) == 0);
}

TEST_CASE("different scenarios are pointed out first with what differs") {
  const Comparison c = compare::compare(run(400, 10, 0, 2), run(400, 10, 0, 3), {});
  CHECK_FALSE(c.same_scenario());
  REQUIRE(c.scenario_differences.size() == 1);
  CHECK(c.scenario_differences[0] == "workload.rate: 2 -> 3");
  const std::string text = to_text(c);
  CHECK(text.substr(0, text.find('\n')).find("DIFFERENT SCENARIOS") != std::string::npos);
}

TEST_CASE("ignored paths and what is below them are not compared") {
  Options options;
  options.ignore = {"kv", "p99_ttft_ms"};
  const Comparison c = compare::compare(run(400, 10, 0), run(800, 10, 9), options);
  CHECK(c.count(Change::regressed) == 0);
  CHECK(c.differences.size() == 3);
}

TEST_CASE("a vLLM bench document is compared on the figures both have") {
  const auto bench = config::Document::parse(
      R"({"date":"20250101-000000","backend":"vllm","completed":10,"request_throughput":9.0,"p99_ttft_ms":400.0,"rtfx":0.0})",
      "bench.json");
  const Comparison c = compare::compare(bench, run(500, 9, 0), {});
  CHECK(c.differences.size() == 2);
  CHECK(find(c, "summary.p99_ttft_ms").change == Change::regressed);
  CHECK(c.base_digest.empty());
}

TEST_CASE("what is no result is refused") {
  for (const char* text :
       {"[]", "{}", R"({"schema":"kvsim.plan/1"})", R"({"schema":"kvsim.run/1"})", "3"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Figures(config::Document::parse(text, "x.json")), InputError);
  }
}

TEST_CASE("annotations name each regression on one line with percent signs escaped") {
  const std::string text = to_github(compare::compare(run(400, 10, 0), run(440, 10, 0), {}));
  CHECK(text == "::error title=kvsim compare::p99_ttft_ms 400 -> 440 (+10 %25, limit 0.5 %25)\n");
}

TEST_CASE("the table reads as recorded") {
  CHECK(to_text(compare::compare(run(400, 10, 0), run(440, 11, 2), {})) ==
        fmt::format(R"(base {0}  new {0}  same scenario
  figure                                   base           new    change    limit
  p99_ttft_ms                               400           440     +10 %    0.5 %  REGRESSION
  request_throughput                         10            11     +10 %    0.5 %  improved
  kv.preemptions                              0             2    from 0    0.5 %  REGRESSION
2 regressed, 1 improved, 0 drifted, 2 unchanged
To accept it: kvsim compare BASE NEW --tolerance kv.preemptions=LIMIT
Verdict: regression, the largest is kv.preemptions from 0 (limit 0.5 %).
)",
                    config::digest(R"({"workload":{"rate":2}})").substr(0, 8)));
}

TEST_CASE("ends of intervals are figures but only compared where a tolerance names them") {
  const auto document = [](double high) {
    return config::Document::parse(
        fmt::format(
            R"({{"schema":"kvsim.run/1","behaviour":1,"complete":true,"scenario":{{}},
"summary":{{"p99_ttft_ms":5,"p99_ttft_ms_low":4,"p99_ttft_ms_high":{}}},"kv":{{}},
"engines":[{{"operators":[{{"name":"up_gemm","seconds":2}},{{"name":"lm_head","seconds":1}}]}}],
"cost":{{}},"verdict":{{}}}})",
            high),
        "r.json");
  };
  const config::Document low = document(6), high = document(9);
  CHECK(compare::compare(low, high, {}).differences.size() == 1);
  Options options;
  REQUIRE(parse_tolerances("p99_ttft_ms_high=10%", options.tolerances).empty());
  const Comparison named = compare::compare(low, high, options);
  CHECK(named.differences.size() == 2);
  CHECK(find(named, "summary.p99_ttft_ms_high").change == Change::regressed);

  CHECK(better("summary.p99_ttft_ms_high") == Better::lower);
  CHECK(better("output_throughput_low") == Better::higher);
  CHECK(is_interval_end("summary.duration_low"));
  CHECK(!is_interval_end("summary.duration"));
  CHECK(!is_interval_end("kv.some_low"));
  const Figures figures(high);
  REQUIRE(figures.find("p99_ttft_ms_high"));
  CHECK(figures.find("p99_ttft_ms_high")->value == 9);
  REQUIRE(figures.find("engines.0.operators.lm_head.seconds"));
  CHECK(figures.find("engines.0.operators.lm_head.seconds")->value == 1);
}
