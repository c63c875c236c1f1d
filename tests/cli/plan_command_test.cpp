#include <doctest/doctest.h>

#include "cli/harness.h"

using kvsim::test::Kvsim;

namespace {

constexpr const char* serve =
    "$ vllm serve meta-llama/Llama-3.1-70B-Instruct \\\n"
    "    -tp 4 --max-model-len 32k --gpu-memory-utilization 0.95 --port 8001\n";

}  // namespace

TEST_CASE("a pasted command is planned as the flags that it stands for") {
  Kvsim flags({"plan", "llama-3.1-70b", "--gpu", "h100-sxm", "--engine", "vllm-v1",
               "--tensor-parallel-size", "4", "--max-model-len", "32000",
               "--gpu-memory-utilization", "0.95"});
  flags.exits(0);
  Kvsim pasted({"plan", "--from-command", "serve.sh", "--gpu", "h100-sxm"});
  pasted.file("serve.sh", serve).exits(0).err_is("").out_has("Taken from the command (vllm serve)");
  pasted.out_has("from -tp 4").out_has("--port 8001").out_has(flags.out());
}

TEST_CASE("a command on stdin is planned and its parts are in the JSON") {
  Kvsim({"plan", "--from-command", "-", "--gpu", "h100-sxm", "--json"})
      .input(serve)
      .exits(0)
      .out_is_json()
      .out_has("\"from_command\": {")
      .out_has("\"program\": \"vllm serve\"")
      .out_has("\"from\": \"-tp 4\"");
}

TEST_CASE("flags of the line win over those of the command") {
  Kvsim({"plan", "--from-command", "-", "--gpu", "h100-sxm", "--tp", "8", "--json"})
      .input(serve)
      .exits(0)
      .out_has("\"tensor_parallel_size\": 8")
      .out_has("\"overridden\": true");
  Kvsim({"plan", "llama-3.1-8b", "--from-command", "-", "--gpu", "h100-sxm", "--json"})
      .input(serve)
      .exits(0)
      .out_has("\"model\": \"llama-3.1-8b\"");
}

TEST_CASE("flags of a command that plan cannot take are warned of") {
  Kvsim({"plan", "--from-command", "-", "--gpu", "h100-sxm", "--json"})
      .input("vllm serve Qwen/Qwen3-8B --max-model-length 4096 --async-scheduling")
      .exits(0)
      .out_has(
          "--max-model-length 4096 of the command is not known and left out (did you mean "
          "--max-model-len?)")
      .out_has("--async-scheduling of the command is left out (scheduling)");
}

TEST_CASE("a quantised spelling is planned with its weights") {
  Kvsim({"plan", "--from-command", "-", "--gpu", "l40s", "--json"})
      .input("vllm serve Qwen/Qwen3-8B-AWQ")
      .exits(0)
      .out_has("\"weights\": \"awq\"")
      .out_has("is taken as qwen3-8b with awq weights, by its name");
}

TEST_CASE("weights that the checkpoint has anyway stay as they are") {
  Kvsim({"plan", "--from-command", "-", "--gpu", "h200-sxm", "--json"})
      .input(
          "python -m sglang.launch_server --model deepseek-ai/DeepSeek-R1 --tp 8 --quantization "
          "fp8")
      .exits(0)
      .out_has("\"weights\": \"fp8_block\"")
      .out_has("--quantization fp8 (the checkpoint's own)");
}

TEST_CASE("secrets of a command are not printed again") {
  Kvsim({"plan", "--from-command", "-", "--gpu", "l40s"})
      .input("HF_TOKEN=hush vllm serve Qwen/Qwen3-8B --api-key hush --hf-token=hush")
      .exits(0)
      .out_has("--api-key ...")
      .out_lacks("hush")
      .err_lacks("hush");
}

TEST_CASE("a GGUF file is planned with the type that its name says") {
  Kvsim({"plan", "--from-command", "-", "--gpu", "l40s", "--json"})
      .input("llama-server -m models/Qwen3-8B-Q8_0.gguf -c 8192")
      .exits(0)
      .out_has("\"value\": \"gguf_q8_0\"")
      .out_has("is taken as qwen3-8b with gguf_q8_0 weights, by its name");
}

TEST_CASE("a drafter of layers that the model lacks is refused at its place") {
  Kvsim({"plan", "--from-command", "serve.sh", "--gpu", "l40s"})
      .file("serve.sh",
            "vllm serve Qwen/Qwen3-8B \\\n  --speculative-config '{\"num_speculative_tokens\":1}'")
      .exits(3)
      .err_has("serve.sh:2:1")
      .err_has("qwen3-8b has no multi-token prediction layers");
  Kvsim({"plan", "--from-command", "-", "--gpu", "h200-sxm", "--json"})
      .input(
          "vllm serve deepseek-ai/DeepSeek-V3 -tp 8 --speculative-config.num_speculative_tokens 1")
      .exits(0)
      .out_has("\"flag\": \"--speculative-method\"");
}

TEST_CASE("a layer partition in front of a command is planned") {
  Kvsim({"plan", "--from-command", "-", "--gpu", "l40s"})
      .input("VLLM_PP_LAYER_PARTITION=20,16 vllm serve Qwen/Qwen3-8B -pp 2")
      .exits(0)
      .out_has("--pp-layer-partition 20,16")
      .err_is("");
  Kvsim({"plan", "--from-command", "-", "--gpu", "l40s"})
      .input("\nVLLM_PP_LAYER_PARTITION=20,x vllm serve Qwen/Qwen3-8B -pp 2")
      .exits(3)
      .err_has("stdin:2:1");
}

TEST_CASE("a command that cannot be planned is refused at its place") {
  Kvsim({"plan", "--from-command", "serve.sh", "--gpu", "l40s"})
      .file("serve.sh", "vllm serve \\\n  Qwen/Qwen9-8B\n")
      .exits(3)
      .out_is("")
      .err_has("unknown model \"Qwen/Qwen9-8B\"")
      .err_has("serve.sh:2:1")
      .err_has("did you mean \"Qwen/Qwen3-8B\"?")
      .err_has("kvsim plan ./config.json --from-command serve.sh");
  Kvsim({"plan", "--from-command", "-", "--gpu", "l40s"})
      .input("vllm serve Qwen/Qwen3-8B --kv-cache-dtype tq3")
      .exits(3)
      .err_has("--kv-cache-dtype cannot be \"tq3\"");
  Kvsim({"plan", "--from-command", "-", "--gpu", "l40s", "--kv-cache-dtype", "int4"})
      .input("vllm serve Qwen/Qwen3-8B --kv-cache-dtype tq3")
      .exits(0);
  Kvsim({"plan", "--from-command", "-", "--gpu", "l40s"})
      .input("ls")
      .exits(3)
      .err_has("vllm serve");
  Kvsim({"plan", "--from-command", "none.sh", "--gpu", "l40s"}).exits(4);
  Kvsim({"plan", "--from-command", "-"}).input(serve).exits(2).err_has("--gpu");
}
