#include <doctest/doctest.h>

#include <csignal>
#include <memory>

#include "cli/harness.h"
#include "cli/scenarios.h"

using kvsim::test::Kvsim;
using kvsim::test::request_lines;
using kvsim::test::small_scenario;

namespace {

// Steps as long as the data sheet says.
std::string roofline_scenario() {
  std::string text = small_scenario();
  const std::string constant = R"({"kind": "constant", "step": "1ms"})";
  return text.replace(text.find(constant), constant.size(), R"({"kind": "roofline"})");
}

}  // namespace

TEST_CASE("run prints a summary or one document and leaves nothing behind") {
  Kvsim({"run", "s.json"})
      .file("s.json", small_scenario())
      .file("requests.jsonl", request_lines(5, 64, 4, 10))
      .exits(0)
      .err_is("")
      .out_has("small: 5 requests completed")
      .out_has("Verdict:")
      .out_lacks("\033")
      .leaves_nothing();
  Kvsim({"run", "s.json", "--json"})
      .file("s.json", small_scenario())
      .file("requests.jsonl", request_lines(5, 64, 4, 10))
      .exits(0)
      .err_is("")
      .out_is_json()
      .out_has("\"completed\": 5");
}

TEST_CASE("a run with roofline steps states intervals unless they are off") {
  std::string scenario = roofline_scenario();
  const auto kvsim = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"run", "s.json"});
    auto run = std::make_unique<Kvsim>(flags);
    run->file("s.json", scenario).file("requests.jsonl", request_lines(5, 64, 4, 10));
    return run;
  };
  kvsim({})->exits(0).err_is("").out_has("  interval    mean TTFT ").out_has("Steps of serve: ");
  kvsim({"--intervals", "off"})->exits(0).out_lacks("  interval ").out_has("Steps of serve: ");
  kvsim({"--json"})
      ->exits(0)
      .out_has("\"level_ratio\": 0.9")
      .out_lacks("mean_ttft_ms_high\": null");
  kvsim({"--json", "--intervals", "off"})->exits(0).out_has("\"mean_ttft_ms_high\": null");
  // The ends may be required and are explained; they are beyond the figure.
  kvsim({"--require", "mean_ttft_ms_high<=0.1"})->exits(1).out_has("mean_ttft_ms_high");
  kvsim({"--require", "mean_ttft_ms_high<=10000"})->exits(0);
  // A trace that is random in nothing has no other seeds.
  kvsim({"--seeds", "3"})->exits(0).out_has("other seeds change nothing");
  kvsim({"--seeds", "3", "--intervals", "off"})->exits(2).err_has("--intervals off");
  kvsim({"--seeds", "0"})->exits(2).err_has("--seeds");
  kvsim({"--intervals", "maybe"})->exits(2).err_has("--intervals");
}

TEST_CASE("a trace from a pipe is simulated once and says that it has no intervals") {
  std::string scenario = roofline_scenario();
  scenario.replace(scenario.find("requests.jsonl"), 14, "-");
  Kvsim({"run", "s.json"})
      .file("s.json", scenario)
      .input(request_lines(5, 64, 4, 10))
      .exits(0)
      .out_has("5 requests completed")
      .out_has("no intervals: the trace comes through a pipe");
}

TEST_CASE("the same run gives the same bytes on a terminal and in a pipe") {
  Kvsim plain({"run", "s.json", "--json"});
  plain.file("s.json", small_scenario()).file("requests.jsonl", request_lines(5, 64, 4, 10));
  Kvsim terminal({"run", "s.json", "--json", "--color", "always"});
  terminal.file("s.json", small_scenario())
      .file("requests.jsonl", request_lines(5, 64, 4, 10))
      .terminal();
  CHECK(terminal.out() == plain.out());
  CHECK(terminal.err().empty());
}

TEST_CASE("a scenario comes from standard input with its trace in the current folder") {
  Kvsim({"run", "-", "--json"})
      .input(small_scenario())
      .file("requests.jsonl", request_lines(3, 64, 4, 10))
      .exits(0)
      .out_is_json();
}

TEST_CASE("a set override reaches the scenario and a misspelt one is blamed on the command line") {
  Kvsim({"run", "s.json", "--json", "--set", "name=other", "--set",
         "cluster.pools.0.engine.max_num_seqs=3"})
      .file("s.json", small_scenario())
      .file("requests.jsonl", request_lines(3, 64, 4, 10))
      .exits(0)
      .out_has("\"name\": \"other\"")
      .out_has("\"max_num_seqs\": 3");
  Kvsim({"run", "s.json", "--set", "cluster.pools.0.engine.max_num_sequs=3"})
      .file("s.json", small_scenario())
      .file("requests.jsonl", request_lines(3, 64, 4, 10))
      .exits(3)
      .out_is("")
      .err_has("--set cluster.pools.0.engine.max_num_sequs=3")
      .err_has("did you mean \"max_num_seqs\"?");
}

TEST_CASE("bad input simulates nothing and writes no file") {
  Kvsim({"run", "s.json", "--json", "-o", "result.json", "--steps", "steps.jsonl", "--requests-out",
         "r.jsonl"})
      .file("s.json", small_scenario(", \"max_num_sequs\": 3"))
      .file("requests.jsonl", request_lines(3, 64, 4, 10))
      .exits(3)
      .out_is("")
      .err_is_json_lines()
      .leaves_nothing();
}

TEST_CASE("every output that cannot be written is found out and named") {
  for (const char* flag :
       {"-o", "--steps", "--requests-out", "--csv", "--html", "--prometheus", "--vllm-bench"})
    Kvsim({"run", "s.json", flag, "nowhere/file"})
        .file("s.json", small_scenario())
        .file("requests.jsonl", request_lines(3, 64, 4, 10))
        .exits(4)
        .out_is("")
        .err_has("nowhere/file")
        .leaves_nothing();
}

TEST_CASE("an interrupted run exits 130 with what it has and says that it is not complete") {
  Kvsim({"run", "s.json", "--json"})
      .file("s.json", small_scenario(", \"max_num_seqs\": 2"))
      .file("requests.jsonl", request_lines(40000, 64, 4000, 1))
      .signal_after(SIGINT, 400)
      .exits(130)
      .err_is_json_lines()
      .err_has("\"code\":\"interrupted\"")
      .out_is_json()
      .out_has("\"complete\": false")
      .leaves_nothing();
}

TEST_CASE("an output that cannot be written is found out before the work") {
  Kvsim({"run", "s.json", "--requests-out", "nowhere/file", "--steps", "steps.jsonl"})
      .file("s.json", small_scenario(", \"max_num_seqs\": 2"))
      .file("requests.jsonl", request_lines(40000, 64, 4000, 1))
      .signal_after(SIGKILL, 3000)
      .exits(4)
      .leaves_nothing();
}

TEST_CASE("progress is shown on a terminal after two seconds and removed at the end") {
  Kvsim({"run", "s.json"})
      .terminal()
      .file("s.json", small_scenario(", \"max_num_seqs\": 2"))
      .file("requests.jsonl", request_lines(40000, 64, 4000, 1))
      .signal_after(SIGINT, 2600)
      .exits(130)
      .err_has("run  ")
      .err_has(" %")
      .err_has("\033[K");
}

TEST_CASE("the command that run proposes keeps what the user set and the seed") {
  const std::string seqs = "cluster.pools.0.engine.max_num_seqs";
  Kvsim({"run", "my chat.json", "--seed", "7", "--set", "name=it's me", "--set", seqs + "=2"})
      .file("my chat.json", small_scenario())
      .file("requests.jsonl", request_lines(40, 64, 40, 1))
      .exits(0)
      .out_has("Try: kvsim run 'my chat.json' --seed 7 --set 'name=it'\\''s me' --set " + seqs +
               "=4\n")
      .out_lacks(seqs + "=2");
}

TEST_CASE("check of a scenario opens its trace and resolves its defaults") {
  Kvsim({"check", "s.json", "--resolve"})
      .file("s.json", small_scenario())
      .file("requests.jsonl", request_lines(3, 64, 4, 10))
      .exits(0)
      .err_is("")
      .out_has("s.json: kvsim.scenario/1 small is well")
      .out_has("/cluster/pools/0/engine/block_size");
  Kvsim({"check", "s.json"}).file("s.json", small_scenario()).exits(4).err_has("requests.jsonl");
  Kvsim({"check", "s.json"})
      .file("s.json", small_scenario())
      .file("requests.jsonl", request_lines(3, 0, 4, 10))
      .exits(3)
      .err_has("requests.jsonl:1:");
}

TEST_CASE("check reads the result of a run") {
  Kvsim run({"run", "s.json", "--json"});
  run.file("s.json", small_scenario()).file("requests.jsonl", request_lines(5, 64, 4, 10));
  Kvsim({"check", "result.json"})
      .file("result.json", run.out())
      .exits(0)
      .out_is("result.json: kvsim.run/1 small is well\n");
}

TEST_CASE("an interrupted sweep exits 130 with the points it has") {
  Kvsim({"sweep", "s.json", "--json", "--vary", "seed=1,2,3,4", "--jobs", "1"})
      .file("s.json", small_scenario(", \"max_num_seqs\": 2"))
      .file("requests.jsonl", request_lines(40000, 64, 4000, 1))
      .signal_after(SIGINT, 400)
      .exits(130)
      .err_is_json_lines()
      .out_is_json()
      .leaves_nothing();
}
