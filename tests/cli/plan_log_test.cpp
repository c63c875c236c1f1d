#include <doctest/doctest.h>

#include "cli/harness.h"
#include "config/document.h"

using kvsim::test::Kvsim;

namespace {

std::string reported(const std::string& id) {
  return kvsim::config::read_file(std::string(KVSIM_SOURCE_DIR) + "/tests/launch/fixtures/" + id +
                                  ".log");
}

}  // namespace

TEST_CASE("a log is planned and its terms are held against the prediction") {
  Kvsim plan({"plan", "--from-log", "start.log", "--gpu", "rtx-3090"});
  plan.file("start.log", reported("vllm-10517-20k")).exits(0).err_is("");
  plan.out_has("Read from the log (vllm-v1 0.6.4)").out_has("from max_seq_len=20000");
  plan.out_has("KV tokens with it").out_has("KV tokens (1952 blocks of 16)").out_has("31,232");
  plan.out_has("Explanation: ");
}

TEST_CASE("the comparison is in the JSON") {
  Kvsim({"plan", "--from-log", "-", "--gpu", "rtx-3090", "--json"})
      .input(reported("vllm-10517-20k"))
      .exits(0)
      .out_is_json()
      .out_has("\"from_log\": {")
      .out_has("\"name\": \"weights\"")
      .out_has("\"printed\": 31232")
      .out_has("\"explanation\": {");
}

TEST_CASE("a GPU is deduced where only one reports the memory of the log") {
  Kvsim({"plan", "--from-log", "-"})
      .input(reported("vllm-10517-20k"))
      .exits(2)
      .out_is("")
      .err_has("several of the catalog report the 23.58 GiB")
      .err_has("rtx-3090");
  Kvsim({"plan", "--from-log", "-"})
      .input(reported("vllm-21348-sglang"))
      .exits(2)
      .err_has("the log does not print the GPU's memory");
}

TEST_CASE("flags of the line win over the arguments in the log") {
  Kvsim({"plan", "--from-log", "-", "--gpu", "h200-sxm", "--max-model-len", "8192", "--json"})
      .input(reported("file-55002292133-tp2"))
      .exits(0)
      .out_has("\"max_model_len\": 8192")
      .out_has("\"compared_worker\": \"Worker_TP0\"");
}

TEST_CASE("a log is refused when nothing of it is known or the model is not") {
  Kvsim({"plan", "--from-log", "x.log", "--gpu", "l40s"})
      .file("x.log", "hello\n")
      .exits(3)
      .out_is("")
      .err_has("looked for lines of vLLM");
  Kvsim({"plan", "--from-log", "-", "--gpu", "l40s"})
      .input("INFO GPU KV cache size: 10 tokens\n")
      .exits(3)
      .err_has("the log names no model");
  Kvsim({"plan", "llama-3.1-8b", "--from-log", "-", "--gpu", "l40s"})
      .input("INFO GPU KV cache size: 10 tokens\n")
      .exits(0);
  Kvsim({"plan", "--from-log", "-", "--from-command", "-", "--gpu", "l40s"}).exits(2);
}

TEST_CASE("bytes that are no UTF-8 do not keep a log from being answered in JSON") {
  Kvsim({"plan", "llama-3.1-8b", "--from-log", "-", "--gpu", "rtx-3090", "--json",
         "--max-model-len", "8192"})
      .input(
          "INFO non-default args: {'ser\xffved_model_name': 'a', 'quux': '\xfe\xff'}\n"
          "INFO \xff Model loading took 14.99 GiB\n"
          "ValueError: \xff No available memory for the cache blocks\n")
      .exits(0)
      .out_is_json();
  Kvsim({"plan", "--from-command", "-", "--gpu", "rtx-3090", "--json"})
      .input("vllm serve meta-llama/Llama-3.1-8B-Instruct --qux\xff '\xff' --max-model-len 8192\n")
      .exits(0)
      .out_is_json();
}

TEST_CASE("plan refuses empty file names and flags of scenarios") {
  for (const char* flag : {"--from-command", "--from-log", "--write-scenario"})
    Kvsim({"plan", "llama-3.1-8b", "--gpu", "h100-sxm", flag, ""})
        .exits(2)
        .out_is("")
        .err_has(flag);
  Kvsim({"plan", "llama-3.1-8b", "--gpu", "h100-sxm", "--seed", "3"}).exits(2).err_has("--seed");
  Kvsim({"plan", "llama-3.1-8b", "--gpu", "h100-sxm", "--set", "a=1"}).exits(2).err_has("--set");
}
