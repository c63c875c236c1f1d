#include <doctest/doctest.h>

#include <string>

#include "cli/harness.h"
#include "cli/scenarios.h"

using kvsim::test::Kvsim;
using kvsim::test::request_lines;
using kvsim::test::small_scenario;

namespace {

// The document of a small run, with or without its requests.
std::string result(std::vector<std::string> more = {}, const std::string& engine = "") {
  std::vector<std::string> words{"run", "s.json", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  Kvsim run(words);
  run.file("s.json", small_scenario(engine))
      .file("requests.jsonl", request_lines(5, 64, 4, 10))
      .exits(0);
  return run.out();
}

// compare of the plain run with another document.
struct Compared : Kvsim {
  static std::vector<std::string> words(std::vector<std::string> more) {
    more.insert(more.begin(), {"compare", "a.json", "b.json"});
    return more;
  }
  Compared(std::vector<std::string> more, const std::string& other)
      : Kvsim(words(std::move(more))) {
    file("a.json", result()).file("b.json", other).env("GITHUB_ACTIONS", "");
  }
};

}  // namespace

TEST_CASE("report says what run said") {
  Kvsim run({"run", "s.json"});
  run.file("s.json", small_scenario()).file("requests.jsonl", request_lines(5, 64, 4, 10)).exits(0);
  Kvsim report({"report", "result.json"});
  report.file("result.json", result()).exits(0).err_is("").leaves_nothing();
  // All but the last line, which names the scenario file.
  const auto body = [](const std::string& text) { return text.substr(0, text.find("    Try:")); };
  CHECK(body(report.out()) == body(run.out()));
}

TEST_CASE("report gives back the document it was given") {
  const std::string document = result({"--detailed"});
  Kvsim({"report", "r.json", "--json"}).file("r.json", document).exits(0).out_is(document);
  Kvsim({"report", "-", "--json"}).input(document).exits(0).out_is(document);
}

TEST_CASE("report renders every format from one document") {
  const std::string document = result({"--detailed"});
  Kvsim({"report", "r.json", "--csv", "-"})
      .file("r.json", document)
      .exits(0)
      .out_has("id,index,")
      .out_has("\nr4,4,");
  Kvsim({"report", "r.json", "--prometheus", "-", "--prometheus-prefix", "vllm:"})
      .file("r.json", document)
      .exits(0)
      .out_has("vllm:time_to_first_token_seconds_count 5\n");
  Kvsim({"report", "r.json", "--vllm-bench", "-"})
      .file("r.json", document)
      .exits(0)
      .out_is_json()
      .out_has("\"input_lens\": [64,64,64,64,64]");
  Kvsim({"report", "r.json", "--html", "-"})
      .file("r.json", document)
      .exits(0)
      .out_has("<!DOCTYPE html>")
      .out_has("small");
}

TEST_CASE("report renders requests from their own file and says what that file lacks") {
  Kvsim run({"run", "s.json", "--requests-out", "-", "-o", "summary.txt"});
  run.file("s.json", small_scenario()).file("requests.jsonl", request_lines(5, 64, 4, 10)).exits(0);
  Kvsim({"report", "q.jsonl", "--csv", "-"}).file("q.jsonl", run.out()).exits(0).out_has("\nr4,4,");
  Kvsim({"report", "q.jsonl"}).file("q.jsonl", run.out()).exits(2).err_has("no summary");
  Kvsim({"report", "r.json", "--csv", "-"})
      .file("r.json", result())
      .exits(2)
      .err_has("--requests-out");
}

TEST_CASE("report refuses what is no result") {
  Kvsim({"report", "none.json"}).exits(4).err_has("none.json");
  Kvsim({"report", "r.json"})
      .file("r.json", "{\"schema\": \"kvsim.plan/1\"}")
      .exits(3)
      .err_has("r.json:1:");
  Kvsim({"report", "r.json"}).file("r.json", "").exits(3).err_has("r.json");
}

TEST_CASE("run and report judge requirements alike") {
  for (const char* demand : {"p99_ttft_ms<=500", "kv.preemptions==0", "mean_tpot_ms<=2ms"}) {
    Kvsim({"run", "s.json", "--require", demand})
        .file("s.json", small_scenario())
        .file("requests.jsonl", request_lines(5, 64, 4, 10))
        .exits(0)
        .out_has("\nok      ");
    Kvsim({"report", "r.json", "--require", demand})
        .file("r.json", result())
        .exits(0)
        .out_has("\nok      ");
  }
  Kvsim({"run", "s.json", "--require", "completed>=6", "--junit", "j.xml"})
      .file("s.json", small_scenario())
      .file("requests.jsonl", request_lines(5, 64, 4, 10))
      .exits(1)
      .out_has("\nFAILED  completed 5 is not >= 6\n");
  Kvsim({"report", "r.json", "--require", "completed>=6"})
      .file("r.json", result())
      .exits(1)
      .out_has("\nFAILED  ");
}

TEST_CASE("a requirement that cannot be used is found before anything runs") {
  Kvsim({"run", "s.json", "--require", "p99_ttf_ms<=5"})
      .exits(2)
      .err_has("did you mean \"p99_ttft_ms\"?");
  Kvsim({"run", "s.json", "--require", "p99_ttft_ms"}).exits(2).err_has("\"p99_ttft_ms\"");
  Kvsim({"run", "s.json", "--require", "p99_ttft_ms<=many"}).exits(2).err_has("\"many\"");
}

TEST_CASE("compare finds no difference between a run and itself") {
  Kvsim({"compare", "a.json", "b.json"})
      .file("a.json", result())
      .file("b.json", result())
      .exits(0)
      .out_has("same scenario")
      .out_has("Verdict: no regression.\n");
}

TEST_CASE("compare exits 1 on a regression and says which in every format") {
  const std::string slow = result({"--set", "cluster.pools.0.engine.cost.step=2ms"});
  Compared({}, slow)
      .exits(1)
      .out_has("DIFFERENT SCENARIOS")
      .out_has("engine.cost.step: 0.001 -> 0.002")
      .out_has("mean_tpot_ms");
  Compared({"--format", "markdown"}, slow).exits(1).out_has("| `mean_tpot_ms` |");
  Compared({"--json"}, slow).exits(1).out_is_json().out_has("\"kvsim.compare/1\"");
  Compared({"--annotations", "github"}, slow).exits(1).out_has("::error title=kvsim compare::");
  Compared({"--json", "--annotations", "github"}, slow)
      .exits(1)
      .out_is_json()
      .err_has("::error title=kvsim compare::");
  Compared({"--junit", "-"}, slow).exits(1).out_has("<failure");
  Compared({"--tolerance", "default=200%"}, slow).exits(0);
}

TEST_CASE("compare reads what vllm bench serve writes") {
  const std::string document = result();
  Kvsim bench({"report", "r.json", "--vllm-bench", "-"});
  bench.file("r.json", document).exits(0);
  Kvsim({"compare", "bench.json", "r.json"})
      .file("bench.json", bench.out())
      .file("r.json", document)
      .exits(0)
      .out_has("only common figures");
}

TEST_CASE("compare refuses names that no figure has") {
  for (const char* flag : {"--tolerance=p99_ttf_ms=5%", "--ignore=kvv"}) {
    Kvsim({"compare", "a.json", "b.json", flag})
        .file("a.json", result())
        .file("b.json", result())
        .exits(2)
        .out_is("");
  }
  Kvsim({"compare", "a.json", "b.json", "--tolerance", "x"})
      .file("a.json", result())
      .file("b.json", result())
      .exits(2);
  Kvsim({"compare", "a.json", "b.json"})
      .file("a.json", "[]")
      .file("b.json", "[]")
      .exits(3)
      .err_has("a.json:1:1");
}
