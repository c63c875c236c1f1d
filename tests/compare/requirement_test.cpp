#include "compare/requirement.h"

#include <doctest/doctest.h>

using namespace kvsim;
using namespace kvsim::compare;

namespace {

const char* result_text = R"({"schema":"kvsim.run/1","behaviour":1,"complete":true,"scenario":{},
"summary":{"p99_ttft_ms":433.0,"p99.9_ttft_ms":500.0,"request_goodput":null,"duration":2.5,"percentiles":[99]},
"kv":{"preemptions":3,"prefix_hit_rate_tokens":0.25},"engines":[{"busy_s":2.0}],"cost":{},"verdict":{"binds":"compute"}})";

Figures figures() { return Figures(config::Document::parse(result_text, "r.json")); }

Requirement parsed(std::string_view text) {
  Requirement r;
  Problem problem;
  REQUIRE_MESSAGE(parse_requirement(text, r, problem), problem.message);
  return r;
}

bool holds(std::string_view text) {
  const Figures f = figures();
  const Requirement r = parsed(text);
  Problem problem;
  REQUIRE_MESSAGE(has_field(r, f, problem), problem.message);
  return check(r, f).ok;
}

}  // namespace

TEST_CASE("each comparison means what it says") {
  CHECK(holds("p99_ttft_ms<=433"));
  CHECK_FALSE(holds("p99_ttft_ms<433"));
  CHECK(holds("p99_ttft_ms>=433"));
  CHECK_FALSE(holds("p99_ttft_ms>433"));
  CHECK(holds("p99_ttft_ms==433"));
  CHECK(holds(" p99_ttft_ms <= 1e3 "));
}

TEST_CASE("a field is named by its short name or its path") {
  CHECK(holds("summary.p99_ttft_ms<=500"));
  CHECK(holds("p99.9_ttft_ms==500"));
  CHECK(holds("kv.preemptions==3"));
  CHECK(holds("engines.0.busy_s<=2"));
}

TEST_CASE("a value may carry its unit") {
  CHECK(parsed("p99_ttft_ms<=0.5s").value == 500);
  CHECK(parsed("p99_ttft_ms<=500ms").value == 500);
  CHECK(parsed("duration<=2min").value == 120);
  CHECK(parsed("kv.prefix_hit_rate_tokens>=30%").value == doctest::Approx(0.3));
}

TEST_CASE("what is no requirement is refused with its text") {
  for (const char* text :
       {"", "p99_ttft_ms", "p99_ttft_ms=500", "<=500", "p99_ttft_ms<=", "p99_ttft_ms<=fast",
        "p99_ttft_ms!=3", "p99_ttft_ms<=5GiB", "p99_ttft_ms<=nan", "kv.preemptions<=3%"}) {
    Requirement r;
    Problem problem;
    CAPTURE(text);
    CHECK_FALSE(parse_requirement(text, r, problem));
    CHECK(problem.message.find(std::string("\"") + text + "\"") != std::string::npos);
  }
}

TEST_CASE("an unknown field is answered with the nearest one") {
  Problem problem;
  CHECK_FALSE(has_field(parsed("p99_ttf_ms<=1"), figures(), problem));
  CHECK(problem.hint.find("p99_ttft_ms") != std::string::npos);
}

TEST_CASE("a figure that is null meets no demand") {
  CHECK_FALSE(holds("request_goodput>=0"));
  CHECK_FALSE(holds("request_goodput<=0"));
}
