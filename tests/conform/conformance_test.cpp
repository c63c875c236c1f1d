#include "conform/conformance.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "diag/diagnostic.h"

using namespace kvsim;
using conform::Conformance;
using conform::ConformOptions;

namespace {

const std::string blocks_case =
    R"({"id":"b0","profile":"vllm-v1","engine":{"block_size":4,"num_gpu_blocks_override":6,)"
    R"("enable_prefix_caching":true},"ops":[)"
    R"({"op":"allocate","id":"q","spans":[["u",9]],)"
    R"("expect":{"hit":0,"ok":true,"blocks":[[1,2,3]],"free":2,"queue":[4,5]}},)"
    R"({"op":"append","id":"q","tokens":4,)"
    R"("expect":{"ok":true,"blocks":[[1,2,3,4]],"free":1,"queue":[5]}},)"
    R"({"op":"allocate","id":"r","spans":[["u",9],["v",3]],"expect":{"hit":8,"ok":true,"free":0}},)"
    R"({"op":"allocate","id":"s","spans":[["w",3]],"expect":{"hit":0,"ok":false,"queue":[]}},)"
    R"({"op":"free","id":"q","expect":{"free":2,"queue":[4,3]}}]})";

// One request of 8 tokens, three outputs, alone on the engine.
const std::string steps_case =
    R"({"id":"s0","source":"ours","profile":"vllm-v1","engine":{"block_size":4,)"
    R"("num_gpu_blocks_override":9,"max_num_seqs":2,"max_num_batched_tokens":6,)"
    R"("enable_prefix_caching":false,"enable_chunked_prefill":true,"max_model_len":32},)"
    R"("requests":[{"id":"r0","arrival_step":1,"prompt":[["p",8]],"max_tokens":3,)"
    R"("output_tokens":2}],"steps":[)"
    R"({"step":1,"scheduled":{"r0":6},"hits":{},"preempted":[],"finished":[],"running":1,)"
    R"("waiting":0,"free_blocks":6},)"
    R"({"step":2,"scheduled":{"r0":2},"free_blocks":6},)"
    R"({"step":3,"scheduled":{"r0":1},"finished":["r0"],"free_blocks":5}],"totals":{"steps":3}})";

Conformance replay(const std::string& text, const ConformOptions& options = {}) {
  static const spec::Catalog catalog;
  return conform::conform_text(text, "cases.jsonl", catalog, options);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

// The one difference in `text`, as "case at field expected got".
std::string difference(const std::string& text) {
  const Conformance c = replay(text);
  CHECK(c.matched() == c.cases() - 1);
  REQUIRE(c.differences.size() == 1);
  const conform::Difference& d = c.differences.front();
  return d.case_id + " " + std::to_string(d.at) + " " + d.field + " " + d.expected + " " + d.got;
}

// The diagnostics that `text` is refused with, one line each: "line pointer code".
std::string problems(const std::string& text) {
  try {
    replay(text);
  } catch (const InputError& error) {
    std::string out;
    for (const Diagnostic& d : error.diagnostics())
      out += std::to_string(d.line) + " " + d.pointer + " " + d.code + "\n";
    return out;
  }
  return "";
}

}  // namespace

TEST_SUITE("conform/conformance") {
  TEST_CASE("recorded operations that kvsim does likewise match") {
    const Conformance c = replay(blocks_case + "\n\n" + steps_case + "\n");
    REQUIRE(c.families.size() == 1);
    CHECK(c.families[0].name == "cases");
    CHECK(c.cases() == 2);
    CHECK(c.matched() == 2);
    CHECK(c.differences.empty());
  }

  TEST_CASE("an altered value is found at its operation and field") {
    CHECK(difference(replaced(blocks_case, R"("hit":8)", R"("hit":4)")) == "b0 3 hit 4 8");
    CHECK(difference(replaced(blocks_case, "[[1,2,3,4]]", "[[1,2,4,3]]")) ==
          "b0 2 blocks [[1,2,4,3]] [[1,2,3,4]]");
    CHECK(difference(replaced(blocks_case, R"("ok":false)", R"("ok":true)")) ==
          "b0 4 ok true false");
    CHECK(difference(replaced(blocks_case, "[4,3]", "[4]")) == "b0 5 queue [4] [4,3]");
  }

  TEST_CASE("an altered value is found at its step and field") {
    CHECK(difference(replaced(steps_case, R"({"r0":2})", R"({"r0":3})")) ==
          R"(s0 2 scheduled {"r0":3} {"r0":2})");
    CHECK(difference(replaced(steps_case, R"("free_blocks":5)", R"("free_blocks":4)")) ==
          "s0 3 free_blocks 4 5");
    CHECK(difference(replaced(steps_case, R"("hits":{})", R"("hits":{"r0":4})")) ==
          R"(s0 1 hits {"r0":4} {})");
  }

  TEST_CASE("requests of a recorded case may name adapters") {
    const std::string adapters =
        R"({"id":"a0","profile":"vllm-v1","engine":{"block_size":4,"num_gpu_blocks_override":9,)"
        R"("max_num_seqs":2,"max_num_batched_tokens":16,"max_model_len":32,"max_loras":1},)"
        R"("requests":[{"id":"r0","arrival_step":1,"prompt":[["p",4]],"max_tokens":1,)"
        R"("output_tokens":1,"adapter":"a"},{"id":"r1","arrival_step":1,"prompt":[["q",4]],)"
        R"("max_tokens":1,"output_tokens":1,"adapter":"b"}],"steps":[)"
        R"({"step":1,"scheduled":{"r0":4},"waiting":1},{"step":2,"scheduled":{"r1":4}}]})";
    CHECK(replay(adapters).matched() == 1);
    CHECK(difference(replaced(adapters, R"("max_loras":1)", R"("max_loras":2)")) ==
          R"(a0 1 scheduled {"r0":4} {"r0":4,"r1":4})");
  }

  TEST_CASE("a step too many and a step too few are differences") {
    CHECK(difference(replaced(steps_case, R"(],"totals")",
                              R"(,{"step":4,"scheduled":{}}],"totals")")) == "s0 4 step 4 null");
    std::string shorter = steps_case;
    const auto from = shorter.find(R"(,{"step":3)"), to = shorter.find(R"(],"totals")");
    CHECK(difference(shorter.erase(from, to - from)) == "s0 3 step null 3");
  }

  TEST_CASE("a field that the profile does not observe differs") {
    CHECK(difference(replaced(steps_case, R"("step":2,)", R"("step":2,"mode":"prefill",)")) ==
          R"(s0 2 mode "prefill" null)");
  }

  TEST_CASE("a case of what is not modelled is refused and the others are replayed") {
    const std::string odd =
        replaced(replaced(steps_case, R"("s0")", R"("s1")"), R"("max_num_seqs")",
                 R"("num_flux_capacitors":3,"max_num_seqs")");
    const Conformance c = replay(odd + "\n" + blocks_case + "\n");
    CHECK(c.cases() == 2);
    CHECK(c.matched() == 1);
    CHECK(c.families[0].refused == 1);
    REQUIRE(c.differences.size() == 1);
    CHECK(c.differences[0].at == 0);
    CHECK(c.differences[0].field == "engine.num_flux_capacitors");
    CHECK(c.differences[0].expected == "3");
    CHECK(c.differences[0].reason.find("num_flux_capacitors") != std::string::npos);
  }

  TEST_CASE("what is no recorded case is an input error with its place") {
    CHECK(problems(blocks_case + "\n" + blocks_case.substr(0, 100) + "\n").starts_with("2 "));
    CHECK(problems(replaced(blocks_case, R"("op":"append")", R"("op":"apend")")) ==
          "1 /ops/1/op unknown-word\n");
    CHECK(problems(replaced(blocks_case, R"("free":1)", R"("fee":1)")) ==
          "1 /ops/1/expect/fee unknown-word\n");
    CHECK(problems(replaced(blocks_case, R"("tokens":4)", R"("tokens":-4)")) ==
          "1 /ops/1/tokens out-of-range\n");
    CHECK(problems(replaced(blocks_case, R"("tokens":4)", R"("token":4)")) ==
          "1 /ops/1 missing-field\n");
    CHECK(problems(replaced(blocks_case, R"("tokens":4)", R"("tokens":4,"n":1)")) ==
          "1 /ops/1/n unknown-key\n");
    CHECK(problems(replaced(blocks_case, R"("free","id":"q")", R"("free","id":"z")")) ==
          "1 /ops/4/id conform-order\n");
    CHECK(problems(replaced(blocks_case, R"([["u",9]])", R"([["u",0]])")) ==
          "1 /ops/0/spans/0 out-of-range\n");
    CHECK(problems(replaced(blocks_case, R"("ops")", R"("opps")")) == "1  conform-case\n");
    CHECK(problems(replaced(blocks_case, R"("block_size":4)", R"("block_sizes":4)")) ==
          "1 /engine missing-field\n");
    CHECK(problems(replaced(steps_case, R"("max_num_seqs":2)", R"("max_num_seqs":"two")")) ==
          "1 /engine/max_num_seqs wrong-type\n");
    CHECK(problems(replaced(steps_case, R"("step":2)", R"("step":3)")) ==
          "1 /steps/1/step out-of-range\n");
    CHECK(problems(replaced(steps_case, R"("hits")", R"("hit")")) ==
          "1 /steps/0/hit unknown-key\n");
    CHECK(problems(replaced(steps_case, R"("arrival_step":1)", R"("arrival_step":0)")) ==
          "1 /requests/0/arrival_step out-of-range\n");
    CHECK(problems("\n \n") == "0  conform-empty\n");
    CHECK(problems("[1]\n").starts_with("1  wrong-type"));
  }

  TEST_CASE("problems of several lines are told together") {
    const std::string bad = replaced(blocks_case, R"("op":"free")", R"("op":"fre")");
    CHECK(problems(bad + "\n" + blocks_case + "\n" + bad + "\n") ==
          "1 /ops/4/op unknown-word\n3 /ops/4/op unknown-word\n");
  }

  TEST_CASE("one case is chosen by its id and several by how their ids begin") {
    const std::string text = blocks_case + "\n" + replaced(blocks_case, R"("b0")", R"("b01")") +
                             "\n" + steps_case + "\n";
    ConformOptions options;
    options.only = "b0";
    CHECK(replay(text, options).cases() == 1);
    options.only = "b";
    CHECK(replay(text, options).cases() == 2);
    options.only = "";
    CHECK(replay(text, options).cases() == 3);
    options.only = "x";
    CHECK_THROWS_AS(replay(text, options), InputError);
  }

  TEST_CASE("the differences are those of the first lines whatever the number of jobs") {
    std::string text;
    for (int i = 0; i < 300; ++i) {
      const std::string id = "c" + std::to_string(i);
      text += replaced(i % 3 == 2 ? replaced(blocks_case, "[4,3]", "[3,4]") : blocks_case,
                       R"("b0")", '"' + id + '"') +
              "\n";
    }
    for (const int jobs : {1, 2, 5}) {
      ConformOptions options;
      options.jobs = jobs;
      options.shown = 3;
      const Conformance c = replay(text, options);
      CHECK(c.cases() == 300);
      CHECK(c.matched() == 200);
      REQUIRE(c.differences.size() == 3);
      CHECK(c.differences[0].case_id == "c2");
      CHECK(c.differences[2].case_id == "c8");
    }
  }

  TEST_CASE("a family has the name of its file") {
    CHECK(conform::family_of("a/b/vllm_blocks.jsonl.gz") == "vllm_blocks");
    CHECK(conform::family_of("vllm_blocks.jsonl") == "vllm_blocks");
    CHECK(conform::family_of("x.gz") == "x");
    CHECK(conform::family_of("v1.2.jsonl.zst") == "v1.2");
    CHECK(conform::family_of("-") == "stdin");
  }
}
