#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "cli/harness.h"

using kvsim::test::Kvsim;

namespace {

// The scenario of a command, as `plan --write-scenario` writes it.
struct Written {
  std::string text, warnings, plan;
};

Written written(const std::string& gpu, const std::string& command) {
  Kvsim plan(
      {"plan", "--from-command", "serve.sh", "--gpu", gpu, "--write-scenario", "s.json", "--json"});
  plan.file("serve.sh", command).exits(0);
  return {plan.folder().read("s.json"), plan.err(), plan.out()};
}

// Whether each line of `check --resolve` is the field with the value, taken from the file.
void resolves(const std::string& scenario,
              std::initializer_list<std::pair<const char*, const char*>> fields) {
  Kvsim check({"check", "--resolve", "s.json"});
  check.file("s.json", scenario).exits(0);
  for (const auto& wanted : fields) {
    const std::string field = wanted.first, value = wanted.second;
    const std::string& out = check.out();
    const auto at = out.find("/engine/" + field + " ");
    REQUIRE_MESSAGE(at != std::string::npos, field);
    const std::string line = out.substr(at, out.find('\n', at) - at);
    CHECK_MESSAGE(line.find(" " + value + " ") != std::string::npos, line);
    CHECK_MESSAGE(line.find("s.json:") != std::string::npos, line);
  }
}

// The digits after `key` in a JSON text.
std::string number_after(const std::string& json, const std::string& key) {
  const auto start = json.find(key) + key.size();
  return json.substr(start, json.find_first_not_of("0123456789", start) - start);
}

std::string with_commas(std::string digits) {
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

// What run says of its pool is what plan says of it; vLLM keeps the null block to itself.
void runs_in_the_planned_pool(const Written& w, int null_blocks = 0) {
  CHECK_MESSAGE(w.warnings.find("the scenario's pool has") == std::string::npos, w.warnings);
  const long blocks = std::stol(number_after(w.plan, "\"blocks\": "));
  Kvsim run({"run", "s.json"});
  run.file("s.json", w.text).exits(0);
  run.out_has(" " + with_commas(std::to_string(blocks - null_blocks)) + " blocks of ");
}

}  // namespace

TEST_CASE("the settings of a vLLM command are in its scenario") {
  const Written w = written(
      "l40s",
      "vllm serve Qwen/Qwen3-8B -tp 2 --max-model-len 8k --max-num-seqs 64 "
      "--max-num-batched-tokens 4096 --block-size 32 --gpu-memory-utilization 0.85 "
      "--no-enable-prefix-caching --scheduling-policy priority --async-scheduling "
      "--long-prefill-token-threshold 1024 --no-scheduler-reserve-full-isl --watermark 0.02 "
      "--prefix-cache-retention-interval 512");
  CHECK(w.warnings.find("warning") == std::string::npos);
  CHECK(w.plan.find("is left out") == std::string::npos);
  resolves(w.text, {{"profile", "\"vllm-v1\""},
                    {"tensor_parallel_size", "2"},
                    {"max_model_len", "8000"},
                    {"max_num_seqs", "64"},
                    {"max_num_batched_tokens", "4096"},
                    {"block_size", "32"},
                    {"gpu_memory_utilization", "0.85"},
                    {"enable_prefix_caching", "false"},
                    {"scheduling_policy", "\"priority\""},
                    {"async_scheduling", "true"},
                    {"long_prefill_token_threshold", "1024"},
                    {"scheduler_reserve_full_isl", "false"},
                    {"watermark", "0.02"},
                    {"prefix_cache_retention_interval", "512"}});
  runs_in_the_planned_pool(w, 1);
}

TEST_CASE("the drafter of a vLLM command is in its scenario") {
  const Written w = written("l40s",
                            "vllm serve Qwen/Qwen3-8B --async-scheduling --speculative-config "
                            "'{\"method\":\"ngram\",\"num_speculative_tokens\":3}'");
  CHECK(w.warnings.find("--num-speculative-tokens") == std::string::npos);
  CHECK(w.plan.find("--async-scheduling of the command is left out (scheduling; not simulated "
                    "together with speculative decoding)") != std::string::npos);
  resolves(w.text,
           {{"speculative/method", "\"ngram\""}, {"speculative/num_speculative_tokens", "3"}});
  runs_in_the_planned_pool(w, 1);
  const Written p = written("l40s",
                            "vllm serve Qwen/Qwen3-8B --speculative-config '{\"method\":"
                            "\"eagle3\",\"model\":\"x/eagle3\",\"num_speculative_tokens\":3,"
                            "\"parallel_drafting\":true}'");
  resolves(p.text,
           {{"speculative/method", "\"eagle3\""}, {"speculative/parallel_drafting", "true"}});
  CHECK(p.warnings.find("num_gpu_blocks_override") == std::string::npos);  // sized with its drafter
  runs_in_the_planned_pool(p, 1);
}

TEST_CASE("the settings of an SGLang command are in its scenario") {
  const Written w =
      written("l40s",
              "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --mem-fraction-static 0.8 "
              "--context-length 16384 --max-running-requests 48 --chunked-prefill-size 4096 "
              "--max-total-tokens 60000 --schedule-policy lpm --schedule-conservativeness 0.5 "
              "--max-prefill-tokens 8192 --enable-mixed-chunk --radix-eviction-policy lfu "
              "--enable-hierarchical-cache --hicache-ratio 3 --hicache-write-policy write_back "
              "--disable-overlap-schedule");
  CHECK(w.warnings.find("warning") == std::string::npos);
  resolves(w.text, {{"profile", "\"sglang\""},
                    {"gpu_memory_utilization", "0.8"},
                    {"max_model_len", "16384"},
                    {"max_num_seqs", "48"},
                    {"chunked_prefill_size", "4096"},
                    {"max_total_tokens", "60000"},
                    {"schedule_policy", "\"lpm\""},
                    {"schedule_conservativeness", "0.5"},
                    {"max_prefill_tokens", "8192"},
                    {"enable_mixed_chunk", "true"},
                    {"radix_eviction_policy", "\"lfu\""},
                    {"enable_hierarchical_cache", "true"},
                    {"hicache_ratio", "3.0"},
                    {"hicache_write_policy", "\"write_back\""},
                    {"async_scheduling", "false"}});
  runs_in_the_planned_pool(w);
}

TEST_CASE("a cap of SGLang above what fits leaves the planned pool") {
  const Written w = written("l40s",
                            "python -m sglang.launch_server --model-path Qwen/Qwen3-8B "
                            "--max-total-tokens 900000 --speculative-algorithm EAGLE3 "
                            "--speculative-draft-model-path x/eagle3 --speculative-num-steps 3");
  CHECK(w.warnings.find("scenarios have no field for --speculative-method") != std::string::npos);
  runs_in_the_planned_pool(w);
}

TEST_CASE("priorities and whole prompts of SGLang are in its scenario") {
  const Written w =
      written("l40s",
              "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --chunked-prefill-size -1 "
              "--max-prefill-tokens 12000 --disable-radix-cache --enable-priority-scheduling "
              "--schedule-low-priority-values-first --priority-scheduling-preemption-threshold 5 "
              "--disable-priority-preemption");
  CHECK(w.warnings.find("warning") == std::string::npos);
  resolves(w.text, {{"chunked_prefill_size", "-1"},
                    {"max_prefill_tokens", "12000"},
                    {"disable_radix_cache", "true"},
                    {"enable_priority_scheduling", "true"},
                    {"schedule_low_priority_values_first", "true"},
                    {"priority_scheduling_preemption_threshold", "5"},
                    {"disable_priority_preemption", "true"}});
  runs_in_the_planned_pool(w);
}

TEST_CASE("the settings of a trtllm-serve command are in its scenario") {
  const Written w = written(
      "l40s",
      "trtllm-serve Qwen/Qwen3-8B --max_batch_size 32 --max_num_tokens 4096 --max_seq_len 8192 "
      "--kv_cache_free_gpu_memory_fraction 0.7 --enable_chunked_prefill "
      "--capacity_scheduler_policy MAX_UTILIZATION --context_chunking_policy EQUAL_PROGRESS "
      "--enable_block_reuse true --no-enable-partial-reuse --host_cache_size 1073741824");
  CHECK(w.warnings.find("warning") == std::string::npos);
  resolves(w.text, {{"profile", "\"trtllm\""},
                    {"max_num_seqs", "32"},
                    {"max_num_batched_tokens", "4096"},
                    {"max_model_len", "8192"},
                    {"gpu_memory_utilization", "0.7"},
                    {"enable_chunked_prefill", "true"},
                    {"capacity_scheduler_policy", "\"MAX_UTILIZATION\""},
                    {"context_chunking_policy", "\"EQUAL_PROGRESS\""},
                    {"enable_prefix_caching", "true"},
                    {"enable_partial_reuse", "false"},
                    {"host_cache_size", "1073741824"}});
  runs_in_the_planned_pool(w);
}

TEST_CASE("a GGUF type keeps its name in the scenario") {
  const Written w = written("l40s", "vllm serve ./Qwen3-8B-Q8_0.gguf --quantization gguf");
  resolves(w.text, {{"quantization", "\"gguf_q8_0\""}});
  runs_in_the_planned_pool(w, 1);
}

TEST_CASE("words of a command that scenarios do not know are warned of") {
  const Written w = written("l40s",
                            "vllm serve Qwen/Qwen3-8B --scheduling-policy fairest --xyzzy 1 "
                            "--max-num-partial-prefills 2 --cpu-offload-gb 8");
  CHECK(w.plan.find("--scheduling-policy fairest of the command is left out (scheduling; ") !=
        std::string::npos);
  CHECK(w.plan.find("--xyzzy 1 of the command is not known and left out") != std::string::npos);
  CHECK(w.plan.find("--max-num-partial-prefills 2 of the command is left out (scheduling)") !=
        std::string::npos);
  CHECK(w.warnings.find("scenarios have no field for --cpu-offload") != std::string::npos);
  CHECK(w.text.find("scheduling_policy") == std::string::npos);
  CHECK(w.warnings.find("the scenario's pool has") != std::string::npos);
}

TEST_CASE("settings that no engine takes together are refused at their place in the command") {
  Kvsim({"plan", "--from-command", "serve.sh", "--gpu", "l40s", "--write-scenario", "s.json"})
      .file("serve.sh",
            "python -m sglang.launch_server --model-path Qwen/Qwen3-8B \\\n"
            "  --disable-radix-cache --enable-hierarchical-cache")
      .exits(3)
      .leaves_nothing()
      .err_has("\"--enable-hierarchical-cache\": a host pool stands behind the radix tree")
      .err_has("serve.sh:2:1");
}

TEST_CASE("settings are left out where no scenario is written") {
  Kvsim({"plan", "--from-command", "-", "--gpu", "l40s", "--write-scenario", "s.json"})
      .input("vllm serve meta-llama/Llama-3.1-70B-Instruct --scheduling-policy priority")
      .exits(1)
      .leaves_nothing()
      .out_has("--scheduling-policy priority of the command is left out (scheduling)");
}

TEST_CASE("a planned deployment is written as a scenario that is well") {
  Kvsim plan({"plan", "--from-command", "serve.sh", "--gpu", "h100-sxm", "--kv-connector",
              "--write-scenario", "chat.json"});
  plan.file("serve.sh",
            "vllm serve meta-llama/Llama-3.1-70B-Instruct -tp 4 --max-model-len 32k --port 8001\n")
      .exits(0);
  plan.err_has("chat.json has a workload to replace: 100 independent requests")
      .err_has("scenarios have no field for --kv-connector");
  Kvsim({"check", "chat.json"}).file("chat.json", plan.folder().read("chat.json")).exits(0);
}

TEST_CASE("no scenario is written for what cannot be simulated") {
  Kvsim({"plan", "llama-3.1-8b", "--gpu", "h100-sxm", "--engine", "llamacpp", "--write-scenario",
         "s.json"})
      .exits(3)
      .leaves_nothing()
      .err_has("can be planned but not simulated");
  Kvsim({"plan", "llama-3.1-70b", "--gpu", "l40s", "--write-scenario", "s.json"})
      .exits(1)
      .leaves_nothing()
      .err_has("does not fit");
  Kvsim({"plan", "llama-3.1-8b", "--gpu", "h100-sxm", "--write-scenario", "-"}).exits(2);
}
