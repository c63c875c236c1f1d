#include <doctest/doctest.h>
#include <csignal>

#include <algorithm>
#include <string>

#include "cli/harness.h"
#include "cli/scenarios.h"

using kvsim::test::Kvsim;

namespace {

const std::string head =
    R"({"id":"b0","profile":"vllm-v1","engine":{"block_size":4,"num_gpu_blocks_override":4,)"
    R"("enable_prefix_caching":true},"ops":[)"
    R"({"op":"allocate","id":"q","spans":[["u",5]],"expect":{"hit":0,"ok":true,)";
const std::string good = head + R"("blocks":[[1,2]],"free":1,"queue":[3]}}]})" + "\n";
const std::string bad = head + R"("blocks":[[2,1]],"free":1,"queue":[3]}}]})" + "\n";

}  // namespace

TEST_SUITE("cli/conform") {
  TEST_CASE("conform exits 0 and says so when every recorded case matches") {
    Kvsim({"conform", "good.jsonl"})
        .file("good.jsonl", good)
        .exits(0)
        .out_has("1 of 1 cases match")
        .out_has("kvsim did what the engine did")
        .err_is("")
        .leaves_nothing();
  }

  TEST_CASE("conform exits 1 and shows the first difference") {
    Kvsim({"conform", "good.jsonl", "bad.jsonl"})
        .file("good.jsonl", good)
        .file("bad.jsonl", bad)
        .exits(1)
        .out_has("1 of 2 cases match")
        .out_has("bad, case b0 at 1, blocks")
        .out_has("recorded  [[2,1]]")
        .out_has("kvsim     [[1,2]]")
        .err_is("");
  }

  TEST_CASE("conform writes one document and the same bytes each time") {
    Kvsim first({"conform", "bad.jsonl", "--json"});
    first.file("bad.jsonl", bad)
        .exits(1)
        .out_is_json()
        .out_has(R"("schema": "kvsim.conformance/1")")
        .out_has(R"("at": 1)")
        .out_has(R"("field": "blocks")")
        .err_is("");
    Kvsim({"conform", "bad.jsonl", "--json", "--jobs", "1"})
        .file("bad.jsonl", bad)
        .exits(1)
        .out_is(first.out());
    Kvsim({"conform", "bad.jsonl", "--json", "-o", "out.json"})
        .file("bad.jsonl", bad)
        .exits(1)
        .out_is("")
        .writes("out.json", first.out());
  }

  TEST_CASE("conform reads standard input") {
    Kvsim({"conform", "-"}).input(good).exits(0).out_has("stdin");
  }

  TEST_CASE("conform refuses a torn line with its place and writes nothing") {
    Kvsim({"conform", "torn.jsonl", "--json", "-o", "out.json"})
        .file("torn.jsonl", good + good.substr(0, 90) + "\n")
        .exits(3)
        .out_is("")
        .err_is_json_lines()
        .err_has("torn.jsonl")
        .err_has("json-syntax")
        .leaves_nothing();
    Kvsim({"conform", "torn.jsonl"})
        .file("torn.jsonl", good + good.substr(0, 90))
        .exits(3)
        .out_is("")
        .err_has("torn.jsonl:2:");
  }

  TEST_CASE("conform names the operation it does not know and the nearest one") {
    std::string text = good;
    text.replace(text.find("allocate"), 8, "alocate");
    Kvsim({"conform", "x.jsonl"})
        .file("x.jsonl", text)
        .exits(3)
        .err_has("/ops/0/op")
        .err_has("allocate")
        .out_is("");
  }

  TEST_CASE("conform says which file is missing or without a case or cut off") {
    Kvsim({"conform", "none.jsonl"}).exits(4).err_has("none.jsonl").out_is("");
    Kvsim({"conform", "."}).exits(4).out_is("");
    Kvsim({"conform", "empty.jsonl"}).file("empty.jsonl", "\n").exits(3).err_has("empty.jsonl");
    Kvsim({"conform", "x.jsonl.gz"})
        .file("x.jsonl.gz", std::string("\x1f\x8b\x08\0\0\0\0\0\0\x03\x4b", 11))
        .exits(3)
        .err_has("x.jsonl.gz");
    Kvsim({"conform"}).exits(2).err_has("FILES");
    Kvsim({"conform", "good.jsonl", "--only", "zz"})
        .file("good.jsonl", good)
        .exits(3)
        .err_has("zz");
    Kvsim({"conform", "good.jsonl", "--jobs", "0"}).file("good.jsonl", good).exits(2);
  }

  TEST_CASE("a step log given to conform is one error that says what it is") {
    Kvsim run({"run", "s.json", "--steps", "steps.jsonl"});
    run.file("s.json", kvsim::test::small_scenario())
        .file("requests.jsonl", kvsim::test::request_lines(30, 64, 4, 1))
        .exits(0);
    const std::string steps = run.folder().read("steps.jsonl");
    CHECK(std::ranges::count(steps, '\n') > 20);
    Kvsim conform({"conform", "steps.jsonl", "--json"});
    conform.file("steps.jsonl", steps)
        .exits(3)
        .out_is("")
        .err_has("conform-step-log")
        .err_has("kvsim run --steps")
        .err_has("docs/howto/check-an-engine-trace.md");
    CHECK(std::ranges::count(conform.err(), '\n') == 1);
  }

  TEST_CASE("a refused case is counted and told apart from one that differs") {
    std::string text = good;
    text.replace(text.find("vllm-v1"), 7, "abacus");
    Kvsim({"conform", "odd.jsonl", "--json"})
        .file("odd.jsonl", text + good)
        .exits(1)
        .out_has(R"("refused": 1)")
        .out_has("abacus");
  }
}
