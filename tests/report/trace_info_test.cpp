#include "report/trace_info.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "workload/trace/format.h"

using namespace kvsim;

TEST_SUITE("report/trace_info") {
  const std::string two =
      "{\"id\":\"a\",\"arrival_s\":0,\"prompt\":[[\"s\",32],[\"a\",8]],\"output_tokens\":4}\n"
      "{\"id\":\"b\",\"arrival_s\":2,\"prompt\":[[\"s\",32],[\"b\",8]],\"output_tokens\":6}\n";

  TEST_CASE("the document holds reuse as fractions and lengths in tokens") {
    const auto source = workload::open_trace_text(two, "kvsim", "t");
    const auto json =
        nlohmann::json::parse(report::trace_info_json(workload::trace_info(*source, {}), "kvsim"));
    CHECK(json["schema"] == "kvsim.trace/1");
    CHECK(json["requests"] == 2);
    CHECK(json["input_tokens"]["total"] == 80);
    CHECK(json["output_tokens"]["p50"] == 5.0);
    CHECK(json["prefix_reuse"]["blocks"] == doctest::Approx(2.0 / 6));
    CHECK(json["prefix_reuse"]["tokens"] == doctest::Approx(32.0 / 80));
    CHECK(json["prefix_reuse"]["full_blocks"] == doctest::Approx(2.0 / 4));
    CHECK(json["arrivals"]["rate_per_s"] == 0.5);
    CHECK(json["notes"].empty());
  }

  TEST_CASE("a trace without times has null arrivals and says so in words") {
    const auto read = [] { return workload::open_trace_text("[[10,20],[30,40]]", "lengths", "t"); };
    workload::InfoOptions options;
    options.is_request_list = false, options.has_times = false;
    const auto json = nlohmann::json::parse(
        report::trace_info_json(workload::trace_info(*read(), options), "lengths"));
    CHECK(json["arrivals"].is_null());
    const std::string text =
        report::trace_info_text(workload::trace_info(*read(), options), "lengths");
    CHECK(text.find("arrivals  none in the trace") != std::string::npos);
    CHECK(text.find("note: the trace has no prefix ids") != std::string::npos);
  }
}
