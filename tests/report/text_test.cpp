#include <doctest/doctest.h>

#include <sstream>

#include "report/exporter.h"
#include "sample.h"

using namespace kvsim;
using namespace kvsim::report;

namespace {

std::string ascii() {
  Style style;
  style.glyphs = Glyphs::ascii;
  style.scenario = "chat.json";
  return render_text(sample(), style);
}

// Characters, not bytes, of the longest line.
std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0, now = 0;
  for (const char c : text) {
    if (c == '\n')
      now = 0;
    else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
      longest = std::max(longest, ++now);
  }
  return longest;
}

}  // namespace

TEST_CASE("the text summary reads as recorded") {
  CHECK(ascii() ==
        R"(chat: 2 requests completed in 4.00 s simulated (seed 7); 80 input and 5 output tokens
               mean        std        p50        p90        p95        p99
  TTFT       1.38 s     375 ms     1.38 s     1.68 s     1.71 s     1.74 s
  TPOT       1.00 s        0 s     1.00 s     1.00 s     1.00 s     1.00 s
  ITL        1.00 s        0 s     1.00 s     1.00 s     1.00 s     1.00 s
  E2E        2.88 s     1.12 s     2.88 s     3.77 s     3.89 s     3.98 s
  throughput  0.500 req/s   1.25 output tok/s   21.2 total tok/s   offered 4.00 req/s
  goodput     0.250 req/s (50.0 % of completed requests keep the SLO)
KV  18 blocks, peak 50.0 %   prefix hits 40.0 % of tokens, 50.0 % of blocks
    0 evictions   0 preemptions (0 tokens lost)
    KV used  ...............-============================================  of 100 %
    running  ::::::::::::::-#############################################  up to 3
    waiting                .*############################################  up to 1
Pool serve: 2 x vllm-v1 >= 0.21, llama-3.1-8b on 1 x h100-sxm, 9 blocks of 16 tokens each; step
    time: datasheet roofline, not calibrated
Cost  0.00222 GPU hours   $1,111 per million output tokens   $65.4 per million tokens in all
Failed: 1 requests
  r2: needs 20 blocks of 9
Note: the trace has no prefix ids: no sharing
Verdict: HBM bandwidth binds: 75 % of the time in steps goes to it; the engines are busy 100 % of
    the time. Lever: more tensor parallelism lets each GPU read less per step.
    Try: kvsim run chat.json --set cluster.pools.0.engine.tensor_parallel_size=2
)");
}

TEST_CASE("no line of the text summary has 100 columns") {
  metrics::RunResult r = sample();
  r.warnings.push_back(std::string(40, 'a') + " " + std::string(40, 'b') + " " +
                       std::string(40, 'c'));
  r.verdict.overload.emplace();
  r.verdict.overload->overloaded = true;
  r.verdict.overload->sentence =
      "arrivals outrun service: 12.0 requests/s arrive, 10.0 complete, and so on and so forth";
  CHECK(longest_line(render_text(r, {})) < 100);
  CHECK(longest_line(ascii()) < 100);
}

TEST_CASE("the ASCII summary holds no other characters") {
  for (const char c : ascii()) CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
}

TEST_CASE("an interrupted run says so in its verdict") {
  metrics::RunResult r = sample();
  r.complete = false;
  CHECK(render_text(r, {}).find("Verdict: interrupted") != std::string::npos);
}
