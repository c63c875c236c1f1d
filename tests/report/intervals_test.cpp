#include <doctest/doctest.h>

#include <algorithm>

#include "report/exporter.h"
#include "report/json.h"
#include "report/operators.h"
#include "sample.h"

using namespace kvsim;
using namespace kvsim::report;

namespace {

// The sample with ends at half and twice each mean, and two operators on each engine.
metrics::RunResult bounded() {
  metrics::RunResult r = sample();
  metrics::Figures low = r.summary, high = r.summary;
  for (auto which : {&metrics::Figures::ttft_ms, &metrics::Figures::tpot_ms,
                     &metrics::Figures::itl_ms, &metrics::Figures::e2el_ms}) {
    (low.*which).mean /= 2;
    (high.*which).mean *= 2;
  }
  low.output_throughput = 1;
  high.output_throughput = 1.5;
  r.summary.low = low;
  r.summary.high = high;
  r.intervals = metrics::Intervals{0.9, 3};
  for (metrics::EngineResult& e : r.engines) {
    e.step_time_low_ratio = 0.9;
    e.step_time_high_ratio = 2.25;
    e.datasheet_ratio = 1;
    e.operators = {{"up_gemm", 3, 0.75, 32, "HBM bandwidth", "datasheet"},
                   {"lm_head", 1, 0.25, 4, "compute", "datasheet"}};
  }
  r.engines[1].operators = {{"lm_head", 4, 1, 16, "HBM bandwidth", "datasheet"}};
  return r;
}

std::string text(const metrics::RunResult& r) {
  Style style;
  style.glyphs = Glyphs::ascii;
  return render_text(r, style);
}

}  // namespace

TEST_CASE("ends and operators are read back as they were written") {
  const metrics::RunResult r = bounded();
  const std::string json = to_json(r);
  const metrics::RunResult again = read_result(config::Document::parse(json, "r.json"));
  CHECK(to_json(again) == json);
  REQUIRE(again.summary.high);
  CHECK(again.summary.high->ttft_ms.mean == 2 * r.summary.ttft_ms.mean);
  CHECK(again.summary.low->output_throughput == 1);
  CHECK(again.intervals->seeds == 3);
  REQUIRE(again.engines[0].operators.size() == 2);
  CHECK(again.engines[0].operators[0].share_ratio == 0.75);

  const auto document = config::Document::parse(json, "r.json");
  CHECK(document.root().find("summary").find("mean_ttft_ms_high").number() ==
        2 * r.summary.ttft_ms.mean);
}

TEST_CASE("a result without ends has nulls in their places and is read back without them") {
  const std::string json = to_json(sample());
  const auto document = config::Document::parse(json, "r.json");
  CHECK(document.root().find("summary").find("mean_ttft_ms_low").is_null());
  CHECK(document.root().find("intervals").is_null());
  const metrics::RunResult again = read_result(document);
  CHECK(!again.summary.low);
  CHECK(!again.summary.high);
  CHECK(!again.intervals);
}

TEST_CASE("a result of before there were ends is still read") {
  std::string json = to_json(sample());
  for (std::size_t at = 0; (at = json.find("_low\": null,", at)) != std::string::npos;) {
    const std::size_t start = json.rfind('\n', at);
    json.erase(start, json.find('\n', at) - start);
    at = start;
  }
  CHECK(json.find("_low\"") == std::string::npos);
  CHECK(!read_result(config::Document::parse(json, "r.json")).summary.low);
}

TEST_CASE("the text says between which values figures lie and what steps consist of") {
  const std::string out = text(bounded());
  CHECK(out.find("  interval    mean TTFT 688 ms to 2.75 s") != std::string::npos);
  CHECK(out.find("1.00 to 1.50 output tok/s") != std::string::npos);
  CHECK(out.find("(90 %, 3 seeds)") != std::string::npos);
  CHECK(out.find("each 0.9 to 2.25 times as long in 90 % of cases") != std::string::npos);
  // 5 s of 8 s are the head's, on the second engine bound by memory.
  CHECK(out.find("    lm_head  62.5 %  HBM bandwidth  ################################\n"
                 "    up_gemm  37.5 %  HBM bandwidth  ###################\n") != std::string::npos);
  CHECK(text(sample()).find("interval") == std::string::npos);
  CHECK(text(sample()).find("Steps of") == std::string::npos);
}

TEST_CASE("the page has a table of operators with bars") {
  const std::string page = render_html(bounded(), {});
  CHECK(page.find("<h2>Steps of serve</h2>") != std::string::npos);
  CHECK(page.find("<td>lm_head</td><td>62.5 %</td>") != std::string::npos);
  CHECK(page.find("width:12.00em") != std::string::npos);
  CHECK(page.find("688 ms to 2.75 s") != std::string::npos);
  CHECK(render_html(sample(), {}).find("Steps of") == std::string::npos);
}

TEST_CASE("operators beyond a count are one line and shares stay whole") {
  std::vector<metrics::OperatorShare> all;
  for (int i = 0; i < 5; ++i)
    all.push_back({"op" + std::to_string(i), 2, 0.2, 1, "compute", "fitted"});
  CHECK(shortened(all, 4).size() == 5);
  const auto few = shortened(all, 3);
  REQUIRE(few.size() == 4);
  CHECK(few.back().name == "2 others");
  CHECK(few.back().share_ratio == doctest::Approx(0.4));
  CHECK(few.back().binds.empty());
  double sum = 0;
  for (const auto& op : few) sum += op.share_ratio;
  CHECK(sum == doctest::Approx(1));
}

TEST_CASE("a bar is as long as its share and never invisible") {
  CHECK(share_bar(1, 8, Glyphs::ascii) == "########");
  CHECK(share_bar(0.5, 8, Glyphs::ascii) == "####");
  CHECK(share_bar(0.001, 8, Glyphs::ascii) == "#");
  CHECK(share_bar(0, 8, Glyphs::ascii).empty());
  CHECK(share_bar(0.5, 1, Glyphs::unicode) == "\u258c");
  CHECK(share_bar(1, 2, Glyphs::unicode) == "\u2588\u2588");
  CHECK(share_bar(0.001, 8, Glyphs::unicode) == "\u258f");
}
