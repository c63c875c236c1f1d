#include <doctest/doctest.h>

#include <array>

#include "config/document.h"
#include "report/chart_js.h"
#include "report/exporter.h"
#include "report/junit.h"
#include "report/plot.h"
#include "report/sparkline.h"
#include "report/wrap.h"
#include "sample.h"

using namespace kvsim;
using namespace kvsim::report;

namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every exporter is found by its name and renders the same bytes twice") {
  for (const Exporter& exporter : exporters()) {
    CAPTURE(exporter.name);
    CHECK(find_exporter(exporter.name) == &exporter);
    CHECK(exporter.render(sample(), {}) == exporter.render(sample(), {}));
    CHECK(exporter.render(sample(), {}).ends_with('\n'));
  }
  CHECK(find_exporter("pdf") == nullptr);
}

TEST_CASE("CSV quotes what needs it and leaves out latencies of failed requests") {
  CHECK(render_csv(sample(), {}) ==
        "id,index,session,pool,engine,measured,failure,prompt_tokens,output_tokens,cached_tokens,"
        "preemptions,arrival_s,first_scheduled_s,first_token_s,end_s,ttft_ms,tpot_ms,e2el_ms\n"
        "\"r,0\",0,,0,0,true,,40,4,0,0,0.0,0.0,1.0,4.0,1000,1000,4000\n"
        "r1,1,,0,1,true,,40,1,0,0,0.25,0.25,2.0,2.0,1750,,1750\n"
        "r2,2,,0,0,true,needs 20 blocks of 9,0,0,0,0,0.5,0.5,0.5,0.5,,,\n");
}

TEST_CASE("a Prometheus histogram is cumulative and closes with all values") {
  const std::string text = render_prometheus(sample(), {});
  CHECK(has(text, "# TYPE kvsim:time_to_first_token_seconds histogram\n"));
  CHECK(has(text, "kvsim:time_to_first_token_seconds_bucket{le=\"0.75\"} 0\n"));
  CHECK(has(text, "kvsim:time_to_first_token_seconds_bucket{le=\"1\"} 1\n"));
  CHECK(has(text, "kvsim:time_to_first_token_seconds_bucket{le=\"2.5\"} 2\n"));
  CHECK(has(text, "kvsim:time_to_first_token_seconds_bucket{le=\"+Inf\"} 2\n"));
  CHECK(has(text, "kvsim:time_to_first_token_seconds_sum 2.75\n"));
  CHECK(has(text, "kvsim:prefix_cache_hits_total 32\n"));
  Style style;
  style.prometheus_prefix = "vllm:";
  CHECK_FALSE(has(render_prometheus(sample(), style), "kvsim"));
}

TEST_CASE("the vLLM bench document has its fields and arrays only when asked for") {
  const auto brief = config::Document::parse(render_vllm_bench(sample(), {}), "b");
  for (const char* field : {"date",
                            "endpoint_type",
                            "backend",
                            "label",
                            "model_id",
                            "tokenizer_id",
                            "num_prompts",
                            "request_rate",
                            "burstiness",
                            "max_concurrency",
                            "duration",
                            "completed",
                            "failed",
                            "total_input_tokens",
                            "total_output_tokens",
                            "request_throughput",
                            "request_goodput",
                            "output_throughput",
                            "total_token_throughput",
                            "max_output_tokens_per_s",
                            "max_concurrent_requests",
                            "mean_ttft_ms",
                            "median_tpot_ms",
                            "std_itl_ms",
                            "p99_e2el_ms"}) {
    CAPTURE(field);
    CHECK(brief.root().find(field).exists());
  }
  CHECK_FALSE(brief.root().find("ttfts").exists());
  Style style;
  style.detailed = true;
  const auto full = config::Document::parse(render_vllm_bench(sample(), style), "b");
  CHECK(full.root().find("ttfts").json() == "[1.0,1.75,0.0]");
  CHECK(full.root().find("errors").at(2).string() == "needs 20 blocks of 9");
  // The gaps of "r,0" were not kept, and an array that lacks them would say there were none.
  CHECK_FALSE(full.root().find("itls").exists());
  metrics::RunResult kept = sample();
  kept.requests[0].gaps.assign(3, Duration(ns_per_second));
  CHECK(config::Document::parse(render_vllm_bench(kept, style), "b").root().find("itls").json() ==
        "[[1.0,1.0,1.0],[],[]]");
}

TEST_CASE("the HTML page stands alone and escapes what it shows") {
  metrics::RunResult r = sample();
  r.name = "<chat> & more";
  r.scenario_json = R"({"name":"</pre><script>"})";
  const std::string page = render_html(r, {});
  CHECK(has(page, "&lt;chat&gt; &amp; more"));
  CHECK_FALSE(has(page, "</pre><script>"));
  CHECK_FALSE(has(page, "src="));
  CHECK_FALSE(has(page, "href=\"http"));
  CHECK(has(page, "<svg"));
  CHECK(has(page, "new Chart(") == !chart_js().empty());
  CHECK_FALSE(has(std::string(chart_js()), "</script"));
}

TEST_CASE("a plot draws its values upside down within its frame") {
  const std::string text = svg({"t", "%", 1, 100, {{"a", "red", {0, 100}}}});
  CHECK(has(text, "points=\"254.0,200.0 650.0,12.0 \""));
}

TEST_CASE("JUnit counts its failures and escapes its text") {
  const std::array cases{JunitCase{"a<=1", ""}, JunitCase{"b", "2 is not < 1"}};
  CHECK(
      junit_xml("s", cases) ==
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"2\" failures=\"1\">\n"
      "  <testsuite name=\"s\" tests=\"2\" failures=\"1\">\n"
      "    <testcase classname=\"s\" name=\"a&lt;=1\"/>\n"
      "    <testcase classname=\"s\" name=\"b\"><failure message=\"2 is not &lt; 1\"/></testcase>\n"
      "  </testsuite>\n</testsuites>\n");
}

TEST_CASE("a sparkline has eight heights and never hides a value above zero in ASCII") {
  CHECK(sparkline(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 7, Glyphs::ascii) == " .:-=+*#");
  CHECK(sparkline(std::vector<double>{0, 0.001}, 7, Glyphs::ascii) == " .");
  CHECK(sparkline(std::vector<double>{0, 7}, 0, Glyphs::unicode) == "\u2581\u2588");
  CHECK(sparkline(std::vector<double>{0, 0}, 0, Glyphs::ascii) == "  ");
}

TEST_CASE("resampling keeps the mean") {
  const std::vector<double> values{1, 2, 3, 4, 5, 6, 7};
  const std::vector<double> few = resample(values, 3);
  REQUIRE(few.size() == 3);
  CHECK((few[0] + few[1] + few[2]) / 3 == doctest::Approx(4));
  CHECK(resample(values, 10) == values);
}

TEST_CASE("wrapped text keeps its words and its width") {
  CHECK(wrap("aa bb cc", 5, 2) == "aa bb\n  cc\n");
  CHECK(wrap("  aa bb", 5, 1) == "  aa\n bb\n");
  CHECK(wrap("ok    x", 80, 4) == "ok    x\n");
  CHECK(wrap("longer", 3, 1) == "longer\n");
  CHECK(wrap("", 3, 1) == "\n");
}
