#include <doctest/doctest.h>

#include <set>

#include "cli/explain/codes.h"
#include "cli/explain/topic.h"
#include "cli/harness.h"
#include "config/echo.h"
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
  CHECK(names("ttft_ms") == "metric:ttft_ms ");
  CHECK(names("TTFT-MS") == "metric:ttft_ms ");
  CHECK(names("p99_ttft_ms") == "metric:ttft_ms ");
  CHECK(names("mean_itl_ms") == "metric:itl_ms ");
  CHECK(names("goodput") == "metric:request_goodput ");
  CHECK(names("wrong-type") == "error code:wrong-type ");
  CHECK(names("--json") == "flag:--json ");
  CHECK(names("json") == "flag:--json ");
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

TEST_CASE("an unknown topic is answered with the nearest one") {
  Kvsim({"explain", "preemption"}).exits(2).out_is("").err_has("did you mean preemptions?");
  Kvsim({"explain", "qqqqqqq"}).exits(2).err_has("kvsim explain lists the topics");
}

TEST_CASE("every topic has a summary and no error code is explained twice") {
  for (const Topic& t : all_topics()) {
    INFO(t.kind, " ", t.name);
    CHECK(!t.name.empty());
    CHECK(!t.summary.empty());
    CHECK(!t.summary.ends_with('.'));
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
