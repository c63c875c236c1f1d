#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "cli/harness.h"

using kvsim::test::Kvsim;

namespace {

std::vector<std::string> plan(std::vector<std::string> more) {
  std::vector<std::string> words{"plan", "llama-3.1-8b",    "--gpu",
                                 "l40s", "--max-model-len", "16384"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("plan answers for a trace and for lengths given in words") {
  const std::string trace =
      "{\"id\":\"a\",\"arrival_s\":0,\"prompt\":[[\"a\",1000]],\"output_tokens\":10,"
      "\"max_tokens\":10}\n"
      "{\"id\":\"b\",\"arrival_s\":1,\"prompt\":[[\"b\",20000]],\"output_tokens\":10,"
      "\"max_tokens\":10}\n";
  Kvsim(plan({"--lengths", "t.jsonl"}))
      .file("t.jsonl", trace)
      .exits(0)
      .out_has("Requests at once at these lengths (trace in format kvsim)")
      .out_has("50 % of the requests are longer than max_model_len 16,384");
  Kvsim(plan({"--lengths", "1000+-300:200", "--json"}))
      .exits(0)
      .out_is_json()
      .out_has("\"at_lengths\"")
      .out_has("\"safe_95\"");
  Kvsim(plan({"--lengths", "w.json"}))
      .file("w.json",
            "{\"schema\": \"kvsim.workload/1\", \"name\": \"w\", \"generate\": {\"kind\": "
            "\"independent\", \"requests\": 50, \"arrival\": {\"process\": \"poisson\", "
            "\"rate\": 1}, \"input\": {\"distribution\": \"fixed\", \"value\": 500}, \"output\": "
            "{\"distribution\": \"fixed\", \"value\": 20}}}")
      .exits(0)
      .out_has("500 prompt and 20 output tokens");
}

TEST_CASE("lengths that cannot be read are refused with what is expected") {
  Kvsim(plan({"--lengths", "10:x"})).exits(2).err_has("neither a length nor a file").out_is("");
  Kvsim(plan({"--lengths", "missing.jsonl"})).exits(4).err_has("missing.jsonl").out_is("");
  Kvsim(plan({"--lengths", "20000"})).exits(3).err_has("longer than max_model_len 16,384");
}

TEST_CASE("room and streams take whole numbers and say so") {
  for (const char* text : {"16", "16:", ":8", "0:8", "16:0", "a:b", "1.5:8"})
    Kvsim(plan({"--room", text})).exits(2).err_has("REQUESTS:TOKENS").out_is("");
  for (const char* text : {"", "4000,", "0", "4k"})
    Kvsim(plan({std::string("--streams"), text})).exits(2).err_has("--streams").out_is("");
  Kvsim(plan({"--room", "4:8192", "--room", "8:1000"}))
      .exits(0)
      .out_has("Room for 4 requests of 8,192 tokens")
      .out_has("Room for 8 requests of 1,000 tokens");
}

TEST_CASE("a length above max model len is warned about wherever it is given") {
  Kvsim(plan({"--context", "20000"})).exits(0).out_has("context 20,000 is above max_model_len");
  Kvsim(plan({"--streams", "20000"})).exits(0).out_has("a stream of 20,000 is above");
  Kvsim(plan({"--room", "1:20000"})).exits(0).out_has("room for 20,000 is above");
  Kvsim(plan({"--context", "16384"})).exits(0).out_lacks("is above max_model_len");
}

TEST_CASE("against takes flags of plan and the later one wins") {
  Kvsim(plan({"--against", "--kv-cache-dtype fp8 --max-model-len 8192"}))
      .exits(0)
      .out_has("Against --kv-cache-dtype fp8 --max-model-len 8192")
      .out_has("KV bytes per token on one GPU, 128 KiB to 64.0 KiB");
  Kvsim(plan({"--against", "--enforce-eager"})).exits(0).out_has("Explains most: CUDA graphs");
  Kvsim(plan({"--against", "qwen3-8b --gpu h100-sxm"}))
      .exits(0)
      .out_has("The other is qwen3-8b on h100-sxm");
  Kvsim(plan({"--against", "--gpu h100-sxm", "--json"}))
      .exits(0)
      .out_is_json()
      .out_has("\"against\"")
      .out_has("\"difference_bytes\"");
}

TEST_CASE("against refuses what plan itself refuses and names the flag") {
  Kvsim(plan({"--against", ""})).exits(2).err_has("--against needs flags").out_is("");
  Kvsim(plan({"--against", "--kv-cache-dtyp fp8"})).exits(2).err_has("--kv-cache-dtype").out_is("");
  Kvsim(plan({"--against", "--tp 2 --tp 4"})).exits(2).err_has("2 times").out_is("");
  Kvsim(plan({"--against", "--tp 3"})).exits(3).err_has("does not divide").out_is("");
  Kvsim(plan({"--against", "--gpu h10-sxm"})).exits(3).err_has("h100-sxm").out_is("");
  Kvsim(plan({"--against"})).exits(2).err_has("needs a value");
}

TEST_CASE("a search exits by its candidates and says which context it takes") {
  Kvsim({"plan", "llama-3.1-70b", "--gpu", "h100-sxm", "--search"})
      .exits(0)
      .out_has("requests of 4,096 tokens*")
      .out_has("Plan as given: does not fit");
  Kvsim({"plan", "llama-3.1-70b", "--gpu", "h100-sxm", "--search", "--context", "2000"})
      .exits(0)
      .out_has("requests of 2,000 tokens;");
  Kvsim({"plan", "llama-3.1-405b", "--gpu", "t4", "--search", "--gpus", "2"}).exits(1);
}
