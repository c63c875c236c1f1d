#include "report/json.h"

#include <doctest/doctest.h>

#include <limits>

#include "diag/check.h"
#include "report/exporter.h"
#include "sample.h"

using namespace kvsim;
using namespace kvsim::report;

TEST_CASE("a result that is written and read back renders to the same bytes everywhere") {
  const metrics::RunResult original = sample();
  const auto document = config::Document::parse(to_json_detailed(original), "result.json");
  const metrics::RunResult again = read_result(document);
  for (const Exporter& exporter : exporters()) {
    Style style;
    style.detailed = true;
    CAPTURE(exporter.name);
    CHECK(exporter.render(again, style) == exporter.render(original, style));
  }
}

TEST_CASE("the first fields of a result are its schema and its behaviour number") {
  const auto document = config::Document::parse(to_json(sample()), "result.json");
  CHECK(document.root().key(0) == "schema");
  CHECK(document.root().at(0).string() == "kvsim.run/1");
  CHECK(document.root().key(1) == "behaviour");
  CHECK(document.root().key(2) == "complete");
  CHECK(document.root().key(3) == "scenario");
}

TEST_CASE("absent figures are null") {
  metrics::RunResult r = sample();
  r.summary.request_goodput.reset();
  r.cost.usd_per_million_output_tokens.reset();
  const auto document = config::Document::parse(to_json(r), "result.json");
  CHECK(document.root().find("summary").find("request_goodput").is_null());
  CHECK(document.root().find("cost").find("usd_per_million_output_tokens").is_null());
  CHECK(document.root().find("cost").find("energy_wh").is_null());
}

TEST_CASE("a figure that is not finite never reaches a document") {
  metrics::RunResult r = sample();
  r.summary.duration = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(to_json(r), InternalError);
}

TEST_CASE("a result with an unknown or a missing field is refused with its place") {
  std::string text = to_json(sample());
  text.replace(text.find("\"completed\""), 11, "\"complated\"");
  try {
    read_result(config::Document::parse(text, "result.json"));
    FAIL("it was accepted");
  } catch (const InputError& e) {
    REQUIRE(e.diagnostics().size() == 2);
    for (const Diagnostic& d : e.diagnostics()) CHECK(d.file == "result.json");
  }
}

TEST_CASE("another document is not taken for a result") {
  CHECK_THROWS_AS(read_result(config::Document::parse(R"({"schema":"kvsim.plan/1"})", "p.json")),
                  InputError);
  CHECK_THROWS_AS(read_result(config::Document::parse("[]", "p.json")), InputError);
}

TEST_CASE("requests are in the document only where detail is asked for") {
  const metrics::RunResult r = sample();
  CHECK_FALSE(config::Document::parse(to_json(r), "r").root().find("requests").exists());
  CHECK(config::Document::parse(to_json_detailed(r), "r").root().find("requests").size() == 3);
}
