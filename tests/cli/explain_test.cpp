#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "cli/explain/codes.h"
#include "cli/explain/topic.h"
#include "cli/harness.h"
#include "cli/scenarios.h"
#include "config/document.h"
#include "config/echo.h"
#include "engine/registry.h"
#include "report/result_fields.h"

using kvsim::cli::all_topics;
using kvsim::cli::CodeText;
using kvsim::cli::find_topics;
using kvsim::cli::Topic;
using kvsim::test::Kvsim;

TEST_CASE("explain finds a topic by any spelling") {
  const auto all = all_topics();
  const auto names = [&](std::string_view word) {
    std::string out;
    for (const Topic& t : find_topics(all, word)) out += t.kind + ":" + t.name + " ";
    return out;
  };
  CHECK(names("ttft_ms") == "metric:ttft_ms scenario field:slo.ttft_ms ");
  CHECK(names("ITL-MS") == "metric:itl_ms ");
  CHECK(names("p99_ttft_ms") == "metric:ttft_ms ");
  CHECK(names("p12.5_ttft_ms") == "metric:ttft_ms ");
  CHECK(names("mean_itl_ms") == "metric:itl_ms ");
  CHECK(names("goodput") == "metric:request_goodput ");
  CHECK(names("wrong-type") == "error code:wrong-type ");
  CHECK(names("--json") == "flag:--json ");
  CHECK(names("json") == "flag:--json report format:json ");
  CHECK(names("num_kv_heads") == "model field:layer_groups[].num_kv_heads ");
  CHECK(names("nothing-like-it") == "");
}

TEST_CASE("explain prints text and JSON and lists its topics") {
  Kvsim({"explain", "preemptions"})
      .exits(0)
      .err_is("")
      .out_has("preemptions (metric)\n  times a running request");
  Kvsim({"explain", "preemptions", "--json"}).exits(0).err_is("").out_is_json();
  Kvsim({"explain"})
      .exits(0)
      .err_is("")
      .out_has("error code")
      .out_has("ttft_ms")
      .out_has("model field");
}

TEST_CASE("explain prints the rules of every engine profile with their sources") {
  for (const kvsim::engine::ProfileEntry& entry : kvsim::engine::profiles()) {
    INFO(entry.name);
    CHECK(!entry.version.empty());
    auto text = Kvsim({"explain", "profile", std::string(entry.name)});
    text.exits(0).err_is("").out_has(std::string(entry.name) + " (engine profile)");
    for (const auto& rule : entry.rules) {
      CHECK(!rule.rule.empty());
      CHECK(!rule.source.empty());
    }
    Kvsim({"explain", "profile", std::string(entry.name), "--json"})
        .exits(0)
        .err_is("")
        .out_is_json();
  }
  Kvsim({"explain", "profile", "vllm-v1"}).out_has("vllm/v1/core/sched/scheduler.py");
  Kvsim({"explain", "profile"}).exits(0).out_has("trtllm").out_has("static");
  Kvsim({"explain", "profile", "vlm-v1"}).exits(2).err_has("vllm-v1");
  Kvsim({"explain", "ttft_ms", "more"}).exits(2).err_has("one word too many");
}

TEST_CASE("every field that a step log writes is explained with its unit") {
  const auto all = all_topics();
  const auto keys = [&](std::string profile, std::string flags, std::string_view wanted) {
    std::string scenario = kvsim::test::small_scenario(flags);
    scenario.replace(scenario.find("vllm-v1"), 7, profile);
    Kvsim run({"run", "s.json", "--steps", "steps.jsonl"});
    run.file("s.json", scenario)
        .file("requests.jsonl", kvsim::test::request_lines(2, 64, 4, 1))
        .exits(0);
    const std::string steps = run.folder().read("steps.jsonl");
    const auto line =
        kvsim::config::Document::parse_line(steps.substr(0, steps.find('\n')), "steps.jsonl", 1);
    CHECK(line.root().find(wanted).exists());
    for (std::size_t i = 0; i < line.root().size(); ++i) {
      const std::string key(line.root().key(i));
      INFO(profile, " ", key);
      CHECK(std::ranges::any_of(find_topics(all, key), [](const Topic& t) {
        return t.kind == "step log field" && t.text.find("in: ") != std::string::npos;
      }));
    }
  };
  keys("vllm-v1", "", "free_blocks");
  keys("sglang", ", \"enable_hierarchical_cache\": true", "host_used");
  keys("trtllm", ", \"host_cache_size\": \"1GiB\"", "host_used");
  keys("static", "", "free_blocks");
  for (const char* field : {"new_token_ratio", "evictable", "protected", "hits", "loaded"})
    Kvsim({"explain", field}).exits(0).out_has("step log field");
}

TEST_CASE("an unknown topic is answered with the nearest one") {
  Kvsim({"explain", "preemption"}).exits(2).out_is("").err_has("did you mean preemptions?");
  Kvsim({"explain", "qqqqqqq"}).exits(2).err_has("kvsim explain lists the topics");
}

TEST_CASE("every topic has a summary and no error code is explained twice") {
  for (const Topic& t : all_topics()) {
    INFO(t.kind, " ", t.name);
    CHECK(!t.name.empty());
    CHECK(!t.summary.empty());
  }
  std::set<std::string> seen;
  for (const CodeText& c : kvsim::cli::code_texts()) {
    INFO(c.code);
    CHECK(seen.insert(c.code).second);
  }
}

TEST_CASE("every figure of a result has a metric topic") {
  kvsim::config::SchemaWriter writer;
  kvsim::metrics::Summary summary;
  kvsim::metrics::KvSummary kv;
  kvsim::metrics::Cost cost;
  summary.percentile_levels = {50, 99.9};
  fields(writer.visitor(), summary);
  fields(writer.visitor(), kv);
  fields(writer.visitor(), cost);
  const auto all = all_topics();
  CHECK(writer.rows().size() >= 40);
  for (const auto& row : writer.rows()) {
    INFO(row.name);
    const auto found = find_topics(all, row.name);
    REQUIRE(!found.empty());
    CHECK(found.front().kind == "metric");
  }
}

namespace {

constexpr const char* requests =
    R"({"id":"a","index":0,"pool":0,"engine":0,"measured":true,"prompt_tokens":100,"output_tokens":1,"cached_tokens":0,"preemptions":0,"arrival_s":0.0,"first_scheduled_s":0.0,"first_token_s":1.0,"end_s":1.0}
{"id":"b","index":1,"pool":0,"engine":0,"measured":true,"prompt_tokens":3104,"output_tokens":3,"cached_tokens":2048,"preemptions":1,"arrival_s":0.5,"first_scheduled_s":1.0,"first_token_s":2.0,"end_s":5.0}
)";
constexpr const char* steps =
    R"({"step":1,"time_s":0.0,"engine":0,"scheduled":{"a":100},"hits":{},"preempted":[],"finished":["a"],"running":1,"waiting":0,"free_blocks":9}
{"step":2,"time_s":1.0,"engine":0,"scheduled":{"b":1056},"hits":{"b":2048},"preempted":[],"finished":[],"running":1,"waiting":0,"free_blocks":9}
{"step":3,"time_s":2.0,"engine":0,"scheduled":{"c":7},"hits":{},"preempted":["b"],"finished":[],"running":1,"waiting":1,"free_blocks":9}
{"step":4,"time_s":3.0,"engine":0,"scheduled":{"b":3105,"c":1},"hits":{},"preempted":[],"finished":[],"running":2,"waiting":0,"free_blocks":9}
{"step":5,"time_s":4.0,"engine":0,"scheduled":{"b":1,"c":1},"hits":{},"preempted":[],"finished":["b"],"running":2,"waiting":0,"free_blocks":9}
)";

}  // namespace

TEST_CASE("explain tells the life of one request") {
  Kvsim({"explain", "r.jsonl", "--request", "b"})
      .file("r.jsonl", requests)
      .exits(0)
      .err_is("")
      .out_is(
          "b: 3,104 prompt tokens (2,048 found in the prefix cache), 3 output tokens, engine 0\n"
          "        0.500000 s  arrives\n"
          "        1.000000 s  first scheduled                               waited 500 ms\n"
          "        2.000000 s  first token                                   TTFT 1.50 s\n"
          "        5.000000 s  last token                                    E2E 4.50 s, TPOT 1500 "
          "ms\n"
          "  put back 1 times\n");
}

TEST_CASE("explain tells the steps of one request where there is a step log") {
  Kvsim({"explain", "r.jsonl", "--request", "b", "--steps", "s.jsonl"})
      .file("r.jsonl", requests)
      .file("s.jsonl", steps)
      .exits(0)
      .err_is("")
      .out_has("1.000000 s  scheduled with 1,056 tokens (step 2)")
      .out_has("2.000000 s  put back, its blocks are given to others (step 3)\n")
      .out_has("3.000000 s  scheduled with 3,105 tokens (step 4)          1 others\n")
      .out_lacks("step 5");
}

TEST_CASE("explain refuses files that do not tell about requests") {
  Kvsim({"explain", "r.jsonl", "--request", "zz"})
      .file("r.jsonl", requests)
      .exits(3)
      .out_is("")
      .err_has("no request with id \"zz\"");
  Kvsim({"explain", "r.jsonl", "--request", "b"})
      .file("r.jsonl", "{\"x\":1}\n")
      .exits(3)
      .err_has("r.jsonl:1:");
  Kvsim({"explain", "r.jsonl", "--request", "b", "--steps", "s.jsonl"})
      .file("r.jsonl", requests)
      .file("s.jsonl", "{\"x\":1}\n")
      .exits(3)
      .err_has("s.jsonl:1:1");
  Kvsim({"explain", "none.jsonl", "--request", "b"}).exits(4).err_has("none.jsonl");
  Kvsim({"explain", "--request", "b"}).exits(2).err_has("--request");
  Kvsim({"explain", "--steps", "b"}).exits(2).err_has("--steps");
}
