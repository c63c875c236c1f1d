#include <doctest/doctest.h>

#include <string>

#include "cli/harness.h"

using kvsim::test::Kvsim;

namespace {

constexpr const char* gpu = R"({
 "schema": "kvsim.gpu/1", // a comment
 "id": "toy", "vendor": "acme", "architecture": "one",
 "memory": "80GiB", "memory_bandwidth": "3TB/s", "bf16_tflops": 100
})";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("check says of every good file that it is well") {
  Kvsim({"check", "a.json", "b.json"})
      .file("a.json", gpu)
      .file("b.json", replaced(gpu, "toy", "toy-2"))
      .exits(0)
      .err_is("")
      .out_is("a.json: kvsim.gpu/1 toy is well\nb.json: kvsim.gpu/1 toy-2 is well\n")
      .leaves_nothing();
}

TEST_CASE("check reads standard input") {
  Kvsim({"check", "-"}).input(gpu).exits(0).out_is("-: kvsim.gpu/1 toy is well\n");
  Kvsim({"check", "-"}).input("{").exits(3).out_is("").err_has("<stdin>:1:");
}

TEST_CASE("check resolves every value and says where it came from") {
  Kvsim({"check", "--resolve", "a.json"})
      .file("a.json", gpu)
      .exits(0)
      .out_has("/memory            85899345920      a.json:4:12")
      .out_has("/tdp_w             0.0              default");
  Kvsim({"check", "--resolve", "a.json", "--json"})
      .file("a.json", gpu)
      .exits(0)
      .err_is("")
      .out_is_json()
      .out_has("\"/memory\": \"a.json:4:12\"")
      .out_has("\"memory\": 85899345920");
}

TEST_CASE("check finds every mistake of a file and points at each") {
  Kvsim bad({"check", "a.json"});
  bad.file("a.json", replaced(replaced(gpu, "\"80GiB\"", "-1"), "bf16_tflops", "bf16_tflop"));
  bad.exits(3).out_is("").leaves_nothing();
  bad.err_has("error: memory must be above 0 bytes, found -1").err_has("--> a.json:4:12   /memory");
  bad.err_has("unknown key \"bf16_tflop\"").err_has("did you mean \"bf16_tflops\"?");
}

TEST_CASE("check reports the mistakes of all files together") {
  Kvsim({"check", "a.json", "b.json", "c.json"})
      .file("a.json", "{")
      .file("b.json", gpu)
      .file("c.json", "[1]")
      .exits(3)
      .out_is("")
      .err_has("a.json:1:")
      .err_has("c.json:1:1");
}

TEST_CASE("check of a missing file or a folder is exit 4") {
  Kvsim({"check", "none.json"}).exits(4).out_is("").err_has("none.json: cannot be opened");
  Kvsim({"check", "sub"}).file("sub/x", "").exits(4).err_has("sub: is a folder");
  Kvsim({"check", "a.json", "none.json"})
      .file("a.json", "{")
      .exits(4)
      .err_has("a.json:1:")
      .err_has("none.json");
}

TEST_CASE("check says which kinds there are when a file does not say its own") {
  Kvsim({"check", "a.json"})
      .file("a.json", "{}")
      .exits(3)
      .err_has("\"schema\"")
      .err_has("kvsim.gpu/1");
  Kvsim({"check", "a.json"})
      .file("a.json", R"({"schema": "kvsim.gpus/1"})")
      .exits(3)
      .err_has("did you mean \"kvsim.gpu/1\"?");
  Kvsim({"check", "a.json"})
      .file("a.json", R"({"schema": "kvsim.gpu/999"})")
      .exits(3)
      .err_has("it reads \"kvsim.gpu/1\"");
  Kvsim({"check", "a.json"}).file("a.json", R"({"schema": 3})").exits(3).err_has("a.json:1:12");
}

TEST_CASE("at most twenty diagnostics are shown and the rest is counted") {
  std::string many = "{\"schema\": \"kvsim.gpu/1\"";
  for (int i = 0; i < 30; ++i) many += ", \"zz" + std::to_string(i) + "\": 1";
  many += "}";
  Kvsim text({"check", "a.json"});
  text.file("a.json", many).exits(3).out_is("").err_has("more like these are not shown");
  std::size_t shown = 0;
  for (std::size_t at = 0; (at = text.err().find("error:", at)) != std::string::npos; ++at) ++shown;
  CHECK(shown == 20);
  Kvsim({"check", "a.json", "--json"})
      .file("a.json", many)
      .exits(3)
      .out_is("")
      .err_is_json_lines()
      .err_has("more-diagnostics");
}

TEST_CASE("under --json each diagnostic carries its code and place and nothing else is on stderr") {
  Kvsim({"check", "a.json", "--json"})
      .file("a.json", replaced(gpu, "\"80GiB\"", "\"many\""))
      .exits(3)
      .out_is("")
      .err_is_json_lines()
      .err_has("\"code\":\"wrong-type\"")
      .err_has("\"file\":\"a.json\",\"line\":4,\"column\":12,\"pointer\":\"/memory\"");
}

TEST_CASE("check reads a request list to its end and counts it") {
  constexpr const char* good =
      R"({"id":"a","arrival_s":0,"prompt":[["x",64]],"output_tokens":4}
{"id":"b","arrival_s":1,"prompt":[["x",32]],"output_tokens":4}
)";
  Kvsim({"check", "r.jsonl"})
      .file("r.jsonl", good)
      .exits(0)
      .out_is("r.jsonl: kvsim trace of 2 requests is well\n");
  Kvsim({"check", "r.jsonl"})
      .file("r.jsonl", replaced(good, "\"arrival_s\":1", "\"arrival_s\":-1"))
      .exits(3)
      .out_is("")
      .err_has("r.jsonl:2:");
  Kvsim({"check", "r.jsonl"}).file("r.jsonl", "").exits(3).out_is("").err_has("r.jsonl");
}

TEST_CASE("check reads a Hugging Face configuration as an import would") {
  constexpr const char* config = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
 "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
 "num_key_value_heads": 8, "head_dim": 128, "vocab_size": 128256, "max_position_embeddings": 131072,
 "torch_dtype": "bfloat16", "tie_word_embeddings": false, "rms_norm_eps": 1e-5})";
  Kvsim({"check", "config.json"})
      .file("config.json", config)
      .exits(0)
      .err_is("")
      .out_is("config.json: Hugging Face config of a llama model is well\n");
  Kvsim({"check", "config.json", "--resolve"})
      .file("config.json", config)
      .exits(0)
      .out_has("\"num_layers\": 32");
  Kvsim({"check", "-"}).input(config).exits(0);
  Kvsim({"check", "config.json"})
      .file("config.json",
            replaced(config, "\"num_hidden_layers\": 32", "\"num_hidden_layers\": 0"))
      .exits(3)
      .out_is("")
      .err_has("config.json:2:");
}

TEST_CASE("check knows host files and the fields of their constants") {
  constexpr const char* good = R"({"schema": "kvsim.host/1", "id": "mine",
 "entries": [{"framework": "vllm", "profile": {"step_us": 500}}]})";
  Kvsim({"check", "h.json"})
      .file("h.json", good)
      .exits(0)
      .out_is("h.json: kvsim.host/1 mine is well\n");
  Kvsim({"check", "h.json"})
      .file("h.json", replaced(good, "500", "-500"))
      .exits(3)
      .out_is("")
      .err_has("/entries/0/profile/step_us");
}
