#include "launch/command_line.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "diag/diagnostic.h"

using namespace kvsim;
using namespace kvsim::launch;

namespace {

Command read(std::string_view text) { return read_command(text, "cmd"); }

// "value" of plan's flag in a command; "(none)" when it is not set, "" when it takes no value.
std::string value(const Command& c, std::string_view flag) {
  for (const Setting& s : c.flags.settings)
    if (s.flag == flag) return s.value;
  return "(none)";
}

std::string from(const Command& c, std::string_view flag) {
  for (const Setting& s : c.flags.settings)
    if (s.flag == flag) return s.from;
  return "(none)";
}

bool is_unmodelled(const Command& c, std::string_view words) {
  return std::any_of(c.flags.unmodelled.begin(), c.flags.unmodelled.end(),
                     [&](const Leftover& l) { return l.words == words; });
}

Diagnostic refusal(std::string_view text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.diagnostics().front();
  }
  return {};
}

}  // namespace

TEST_CASE("a vllm serve command gives the model the sizes and the fraction") {
  const Command c = read(
      "vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 8 --max-model-len 32k "
      "--gpu-memory-utilization=0.95 --port 8001 --trust-remote-code");
  CHECK(c.engine == "vllm-v1");
  CHECK(c.program == "vllm serve");
  CHECK(c.flags.model == "meta-llama/Llama-3.1-70B-Instruct");
  CHECK(value(c, "--tensor-parallel-size") == "8");
  CHECK(from(c, "--tensor-parallel-size") == "-tp 8");
  CHECK(value(c, "--max-model-len") == "32000");
  CHECK(value(c, "--gpu-memory-utilization") == "0.95");
  CHECK(c.flags.neutral == std::vector<std::string>{"--port 8001", "--trust-remote-code"});
  CHECK(c.flags.unmodelled.empty());
  CHECK(c.flags.unknown.empty());
}

TEST_CASE("prompts assignments continued lines and quotes are read as a shell reads them") {
  const Command c = read(
      "# start\n$ CUDA_VISIBLE_DEVICES=0,1 VLLM_PP_LAYER_PARTITION=16,32 \\\n"
      "  python3 -m vllm.entrypoints.openai.api_server \\\r\n"
      "    --model \"Qwen/Qwen3-8B\" \\\n"
      "    --speculative-config '{\"method\":\"mtp\",\"num_speculative_tokens\":3}' \\\n"
      "    --no-enable-prefix-caching > server.log 2>&1 &\n");
  CHECK(c.flags.model == "Qwen/Qwen3-8B");
  CHECK(c.flags.model_line == 4);
  CHECK(value(c, "--speculative-method") == "mtp");
  CHECK(value(c, "--num-speculative-tokens") == "3");
  CHECK(value(c, "--no-enable-prefix-caching").empty());
  CHECK(value(c, "--pp-layer-partition") == "16,32");
  CHECK(from(c, "--pp-layer-partition") == "VLLM_PP_LAYER_PARTITION=16,32");
  CHECK(c.flags.neutral == std::vector<std::string>{"CUDA_VISIBLE_DEVICES=0,1"});
}

TEST_CASE("a container image is a program and its tag a version") {
  const Command c = read(
      "docker run --runtime nvidia --gpus all -v models:/models -p 8000:8000 --ipc=host \\\n"
      " vllm/vllm-openai:v0.10.1 --model Qwen/Qwen3-14B --enforce-eager");
  CHECK(c.engine == "vllm-v1");
  CHECK(c.version == "v0.10.1");
  CHECK(c.flags.model == "Qwen/Qwen3-14B");
  CHECK(value(c, "--enforce-eager").empty());
  const Command s = read(
      "docker run --gpus all lmsysorg/sglang:v0.5.3-cu129 python3 -m sglang.launch_server "
      "--model-path deepseek-ai/DeepSeek-V3 --tp 8");
  CHECK(s.engine == "sglang");
  CHECK(s.version == "v0.5.3");
  CHECK(value(s, "--tensor-parallel-size") == "8");
}

TEST_CASE("numbers of vLLM take decimal and binary letters") {
  const Command c = read(
      "vllm serve m --max-num-batched-tokens 2K --kv-cache-memory-bytes 20G "
      "--max-model-len 25.6k --cpu-offload-gb 10");
  CHECK(value(c, "--max-num-batched-tokens") == "2048");
  CHECK(value(c, "--kv-cache-memory-bytes") == "21474836480");
  CHECK(value(c, "--max-model-len") == "25600");
  CHECK(value(c, "--cpu-offload") == "10GiB");
  CHECK(refusal("vllm serve m --max-model-len 25.6K").code == "command-value");
}

TEST_CASE("both spellings of multimodal limits are read") {
  CHECK(value(read("vllm serve m --limit-mm-per-prompt '{\"image\":2}'"), "--images-per-prompt") ==
        "2");
  const Command c = read("vllm serve m --limit-mm-per-prompt image=3,video=1");
  CHECK(value(c, "--images-per-prompt") == "3");
  CHECK(is_unmodelled(c, "--limit-mm-per-prompt image=3,video=1"));
}

TEST_CASE("a connector hybrid memory and graph modes are translated") {
  const Command c = read(
      "vllm serve m --kv-transfer-config '{\"kv_connector\":\"NixlConnector\"}' "
      "--disable-hybrid-kv-cache-manager --compilation-config.cudagraph_mode NONE -O3");
  CHECK(value(c, "--kv-connector").empty());
  CHECK(value(c, "--disable-hybrid-kv-cache-manager").empty());
  CHECK(value(c, "--enforce-eager").empty());
  CHECK(c.flags.neutral == std::vector<std::string>{"-O3"});
}

TEST_CASE("an engine reads the layer partition of its own variable") {
  const Command s = read(
      "SGLANG_PP_LAYER_PARTITION=20,12 SGLANG_PP_LAYER_PARTITION=12,20 "
      "VLLM_PP_LAYER_PARTITION=1,31 sglang serve --model-path m --pp 2");
  CHECK(value(s, "--pp-layer-partition") == "12,20");
  CHECK(s.flags.neutral == std::vector<std::string>{"VLLM_PP_LAYER_PARTITION=1,31"});
  const Command c = read("docker run -e VLLM_PP_LAYER_PARTITION=9,7 vllm/vllm-openai:latest -pp 2");
  CHECK(value(c, "--pp-layer-partition") == "9,7");
}

TEST_CASE("a drafter that is not named is the layers of the model") {
  for (const char* words : {"--speculative-config '{\"num_speculative_tokens\":1}'",
                            "--speculative-config.num_speculative_tokens 1", "--spec-tokens 1"}) {
    const Command c = read(std::string("vllm serve m ") + words);
    CHECK(value(c, "--speculative-method") == "mtp");
    CHECK(value(c, "--num-speculative-tokens") == "1");
    CHECK(c.flags.unmodelled.empty());
  }
}

TEST_CASE("ngram is a drafter under method and under model") {
  for (const char* key : {"method", "model"})
    for (const char* word : {"ngram", "[ngram]"}) {
      const Command c = read(std::string("vllm serve m --speculative-config '{\"") + key + "\":\"" +
                             word + "\",\"num_speculative_tokens\":4}'");
      CHECK(value(c, "--speculative-method") == "ngram");
      CHECK(value(c, "--num-speculative-tokens") == "4");
      CHECK(value(c, "--draft-model") == "(none)");
    }
}

TEST_CASE("a drafter that no engine could load is refused at its line") {
  for (const char* json : {"{}", "{\"method\":\"draft_model\",\"num_speculative_tokens\":2}"}) {
    const Diagnostic d =
        refusal(std::string("vllm serve m \\\n  --speculative-config '") + json + "'");
    CHECK(d.code == "command-value");
    CHECK(d.file == "cmd");
    CHECK(d.line == 2);
  }
}

TEST_CASE("no flag is dropped in silence") {
  const Command c = read(
      "vllm serve m --max-model-length 4096 --scheduling-policy priority --xyzzy 7 --seed 1 "
      "--seed 2");
  REQUIRE(c.flags.unknown.size() == 2);
  CHECK(c.flags.unknown[0].words == "--max-model-length 4096");
  CHECK(c.flags.unknown[0].why == "did you mean --max-model-len?");
  CHECK(c.flags.unknown[1].words == "--xyzzy 7");
  CHECK(is_unmodelled(c, "--scheduling-policy priority"));
  CHECK(is_unmodelled(c, "--seed 1"));
  CHECK(c.flags.neutral == std::vector<std::string>{"--seed 2"});
}

TEST_CASE("underscores count as hyphens in flags") {
  CHECK(value(read("vllm serve m --tensor_parallel_size 2"), "--tensor-parallel-size") == "2");
}

TEST_CASE("SGLang flags are translated to the words of plan") {
  const Command c = read(
      "python -m sglang.launch_server --model-path Qwen/Qwen3-Next-80B-A3B-Instruct --tp-size 4 "
      "--mem-fraction-static 0.85 --context-length 65536 --chunked-prefill-size 4096 "
      "--max-running-requests 64 --max-total-tokens 200000 --page-size 64 --disable-cuda-graph "
      "--disable-radix-cache --mamba-full-memory-ratio 0.5 --swa-full-tokens-ratio 0.6 "
      "--kv-cache-dtype fp8_e5m2 --ep-size 4 --cuda-graph-max-bs 64");
  CHECK(c.engine == "sglang");
  CHECK(value(c, "--tensor-parallel-size") == "4");
  CHECK(value(c, "--mem-fraction-static") == "0.85");
  CHECK(value(c, "--max-model-len") == "65536");
  CHECK(value(c, "--max-num-batched-tokens") == "4096");
  CHECK(value(c, "--max-num-seqs") == "64");
  CHECK(value(c, "--max-total-tokens") == "200000");
  CHECK(value(c, "--block-size") == "64");
  CHECK(value(c, "--enforce-eager").empty());
  CHECK(value(c, "--no-enable-prefix-caching").empty());
  CHECK(value(c, "--mamba-full-memory-ratio") == "0.5");
  CHECK(value(c, "--swa-full-tokens-ratio") == "0.6");
  CHECK(value(c, "--kv-cache-dtype") == "fp8_e5m2");
  CHECK(value(c, "--enable-expert-parallel").empty());
  CHECK(is_unmodelled(c, "--cuda-graph-max-bs 64"));
}

TEST_CASE("attention data parallelism of SGLang divides the tensor group") {
  const Command c = read(
      "python -m sglang.launch_server --model deepseek-ai/DeepSeek-V3 --tp 8 --dp 8 "
      "--enable-dp-attention");
  CHECK(value(c, "--tensor-parallel-size") == "1");
  CHECK(value(c, "--data-parallel-size") == "8");
  CHECK(value(c, "--enable-expert-parallel").empty());
  CHECK(refusal("python -m sglang.launch_server --model m --tp 8 --dp 3 --enable-dp-attention")
            .code == "command-value");
}

TEST_CASE("a chain of drafts of SGLang has as many tokens as steps") {
  const Command c = read(
      "sglang serve --model-path m --speculative-algorithm EAGLE --speculative-num-steps 3 "
      "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4");
  CHECK(value(c, "--speculative-method") == "mtp");
  CHECK(value(c, "--num-speculative-tokens") == "3");
  CHECK(c.flags.neutral.size() == 2);
}

TEST_CASE("trtllm-serve flags with underscores are translated") {
  const Command c = read(
      "trtllm-serve meta-llama/Llama-3.1-8B-Instruct --tp_size 2 --max_seq_len 8192 "
      "--max_batch_size 64 --max_num_tokens 4096 --kv_cache_free_gpu_memory_fraction 0.8 "
      "--extra_llm_api_options extra.yml");
  CHECK(c.engine == "trtllm");
  CHECK(c.flags.model == "meta-llama/Llama-3.1-8B-Instruct");
  CHECK(value(c, "--tensor-parallel-size") == "2");
  CHECK(value(c, "--max-model-len") == "8192");
  CHECK(value(c, "--max-num-seqs") == "64");
  CHECK(value(c, "--max-num-batched-tokens") == "4096");
  CHECK(value(c, "--free-gpu-memory-fraction") == "0.8");
  CHECK(is_unmodelled(c, "--extra_llm_api_options extra.yml"));
}

TEST_CASE("the context of llama-server is shared by its slots") {
  const Command c = read(
      "./build/bin/llama-server -m models/Llama-3.1-8B.gguf -c 32768 -np 4 -ctk q8_0 -ctv q8_0 "
      "-ngl 99 -fa on --jinja");
  CHECK(c.engine == "llamacpp");
  CHECK(c.flags.model == "models/Llama-3.1-8B.gguf");
  CHECK(value(c, "--max-model-len") == "8192");
  CHECK(value(c, "--max-num-seqs") == "4");
  CHECK(value(c, "--kv-cache-dtype") == "q8_0");
  CHECK(from(c, "--kv-cache-dtype") == "-ctk q8_0 -ctv q8_0");
  CHECK(is_unmodelled(read("llama-server -m x.gguf -ngl 20"), "-ngl 20"));
  CHECK(read("llama-server -hff m-Q8_0.gguf -hf org/m-GGUF").flags.model ==
        "org/m-GGUF/m-Q8_0.gguf");
}

TEST_CASE("what cannot be read is refused with its line") {
  CHECK(refusal("ls -l").code == "command-unknown");
  CHECK(refusal("").code == "command-unknown");
  CHECK(refusal("vllm serve 'm").code == "command-syntax");
  const Diagnostic d = refusal("vllm serve m \\\n  --tensor-parallel-size two");
  CHECK(d.code == "command-value");
  CHECK(d.file == "cmd");
  CHECK(d.line == 2);
  CHECK(refusal("vllm serve m --block-size").code == "command-missing-value");
  CHECK(refusal("vllm serve m extra").code == "command-word");
  CHECK(refusal("vllm serve m --speculative-config '{'").code == "command-value");
}

TEST_CASE("flags on lines without a backslash belong to the command above") {
  const Command c = read("vllm serve m\n  --tensor-parallel-size 2\n  --block-size 32\n");
  CHECK(value(c, "--tensor-parallel-size") == "2");
  CHECK(value(c, "--block-size") == "32");
}

TEST_CASE("settings that only a scenario has come with its field and their value") {
  const auto field = [](const Command& c, std::string_view name) -> std::string {
    for (const Leftover& l : c.flags.unmodelled)
      if (l.field == name) return l.value;
    return "(none)";
  };
  const Command v = read(
      "vllm serve m --scheduling-policy priority --no-async-scheduling "
      "--long-prefill-token-threshold 2k --watermark 0.01");
  CHECK(field(v, "scheduling_policy") == "\"priority\"");
  CHECK(field(v, "async_scheduling") == "false");
  CHECK(field(v, "long_prefill_token_threshold") == "2000");
  CHECK(field(v, "watermark") == "0.01");
  const Command s = read(
      "python -m sglang.launch_server --model m --disable-overlap-schedule --schedule-policy lpm");
  CHECK(field(s, "async_scheduling") == "false");
  CHECK(field(s, "schedule_policy") == "\"lpm\"");
  CHECK(refusal("vllm serve m --watermark much").code == "command-value");
}

TEST_CASE("prompts that SGLang does not cut fill a step up to what it admits") {
  const Command c = read(
      "python -m sglang.launch_server --model m --chunked-prefill-size -1 --max-prefill-tokens "
      "9000");
  CHECK(value(c, "--no-enable-chunked-prefill").empty());
  CHECK(value(c, "--max-num-batched-tokens") == "9000");
}
