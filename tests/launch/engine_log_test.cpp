#include "launch/engine_log.h"

#include <doctest/doctest.h>

#include <string>

#include "config/document.h"
#include "diag/diagnostic.h"
#include "launch/log_scan.h"

using namespace kvsim;
using namespace kvsim::launch;

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

EngineLog read(std::string_view text) { return read_engine_log(text, "log"); }

// Lines of starts that were reported in public, by their id in the table of reports.
EngineLog reported(const std::string& id) {
  return read(
      config::read_file(std::string(KVSIM_SOURCE_DIR) + "/tests/launch/fixtures/" + id + ".log"));
}

double figure(const EngineLog& log, Term term) {
  const Figure* f = log.find(term);
  return f ? f->value : -1;
}
double size(const EngineLog& log, Term term) { return figure(log, term) / gib; }

std::string value(const EngineLog& log, std::string_view flag) {
  for (const Setting& s : log.flags.settings)
    if (s.flag == flag) return s.value;
  return "(none)";
}

}  // namespace

TEST_CASE("numbers are read where a pattern fits and nowhere else") {
  CHECK(numbers_in("x GPU KV cache size: 619,202 tokens, y", "GPU KV cache size: {} tokens") ==
        std::vector<double>{619202});
  CHECK(numbers_in("a {*} b", "nothing {}") == std::nullopt);
  CHECK(numbers_in("took 14.99GiB; then 0.35 GiB", "took {} GiB; then {} GiB") ==
        std::vector<double>{14.99, 0.35});
  CHECK(numbers_in("took GiB, took 3 GiB", "took {} GiB") == std::vector<double>{3});
  CHECK(numbers_in("(1.5, 2.", "({}, {}") == std::vector<double>{1.5, 2});
}

TEST_CASE("a start before V1 is read with its profile line") {
  const EngineLog log = reported("vllm-10517-20k");
  CHECK(log.engine == "vllm-v1");
  CHECK(log.version == "0.6.4");
  CHECK(log.flags.model == "meta-llama/Llama-3.1-8B-Instruct");
  CHECK(value(log, "--max-model-len") == "20000");
  CHECK(size(log, Term::total_memory) == doctest::Approx(23.58));
  CHECK(size(log, Term::weights) == doctest::Approx(14.9888));
  CHECK(size(log, Term::peak_torch) == doctest::Approx(17.06));
  CHECK(size(log, Term::non_torch) == doctest::Approx(0.35));
  CHECK(size(log, Term::kv_memory) == doctest::Approx(3.81));
  CHECK(figure(log, Term::blocks) == 1952);
  CHECK(figure(log, Term::cpu_blocks) == 2048);
  CHECK(figure(log, Term::max_concurrency) == doctest::Approx(1.56));
  CHECK(log.find(Term::blocks)->line == 4);
  CHECK(log.refusals.empty());
}

TEST_CASE("workers are kept apart and the poorest is compared") {
  const EngineLog log = reported("file-55002292133-tp2");
  CHECK(log.version == "0.19.1");
  CHECK(log.workers == std::vector<std::string>{"Worker_TP0", "Worker_TP1"});
  CHECK(log.poorest() == "Worker_TP0");
  CHECK(size(log, Term::kv_memory) == doctest::Approx(15.06));
  CHECK(figure(log, Term::tokens) == 246576);
  CHECK(value(log, "--tensor-parallel-size") == "2");
  CHECK(value(log, "--gpu-memory-utilization") == "0.85");
  CHECK(log.flags.unmodelled.empty());
  CHECK(log.flags.unknown.empty());
}

TEST_CASE("an engine core that prints every pool has the smallest of them") {
  const EngineLog log = read(
      "(EngineCore_0 pid=7) INFO GPU KV cache size: 178,880 tokens\n"
      "(EngineCore_0 pid=7) INFO GPU KV cache size: 179,900 tokens\n");
  CHECK(figure(log, Term::tokens) == 178880);
}

TEST_CASE("SGLang sizes in GB are GiB and its arguments are those that it runs with") {
  const EngineLog log = reported("vllm-21348-sglang");
  CHECK(log.engine == "sglang");
  CHECK(log.flags.model == "Qwen/Qwen3-235B-A22B-FP8");
  CHECK(value(log, "--tensor-parallel-size") == "4");
  CHECK(value(log, "--mem-fraction-static") == "0.93");
  CHECK(value(log, "--max-num-batched-tokens") == "8192");
  CHECK(value(log, "--max-num-seqs") == "2296");
  CHECK(size(log, Term::kv_memory) == doctest::Approx(16.46));
  CHECK(figure(log, Term::tokens) == 367404);
  CHECK(log.flags.unmodelled.empty());
}

TEST_CASE("state pools and drafters of SGLang do not replace the pool of the model") {
  const EngineLog log = read(
      "[2026-08-28 21:19:30] Load weight begin. avail mem=111.97 GB\n"
      "[2026-08-28 21:32:38] Load weight end. elapsed=787.55 s, type=A, avail mem=29.01 GB, mem "
      "usage=82.97 GB.\n"
      "[2026-08-28 21:33:13] Load weight end. elapsed=94.49 s, type=AMTP, avail mem=30.67 GB, mem "
      "usage=1.86 GB.\n"
      "[2026-08-28 21:34:14] Mamba Cache is allocated. max_mamba_cache_size: 43, conv_state size: "
      "0.12GB, ssm_state size: 3.09GB\n"
      "[2026-08-28 21:34:15] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 171008, K "
      "size: "
      "5.22 GB, V size: 5.22 GB\n"
      "[2026-08-28 21:34:15] KV Cache is allocated. dtype: torch.bfloat16, #tokens: 171008, K "
      "size: "
      "0.33 GB, V size: 0.33 GB\n"
      "[2026-08-28 21:34:50] Capture cuda graph end. Time elapsed: 8.04 s. mem usage=0.80 GB. "
      "avail "
      "mem=10.30 GB.\n");
  CHECK(size(log, Term::weights) == doctest::Approx(82.97));
  CHECK(size(log, Term::kv_memory) == doctest::Approx(10.44));
  CHECK(size(log, Term::state_memory) == doctest::Approx(3.21));
  CHECK(figure(log, Term::state_slots) == 43);
  CHECK(size(log, Term::cuda_graphs) == doctest::Approx(0.8));
  CHECK(size(log, Term::free_memory) == doctest::Approx(111.97));
}

TEST_CASE("the lines of a start with graphs in the budget are read") {
  const EngineLog log = read(
      "\x1b[32m2026-05-01 21:37:17.848 | (EngineCore pid=187) INFO 05-01 19:37:17 "
      "[gpu_model_runner.py:5405] Model loading took 14.25 GiB memory and 3.4 seconds\x1b[0m\r\n"
      "Capturing: 0%|   | 0/8\rCapturing: 100%|###| 8/8\n"
      "(EngineCore pid=187) INFO [gpu_model_runner.py:6042] Estimated CUDA graph memory: 0.45 GiB "
      "total\n"
      "(EngineCore pid=187) INFO [gpu_worker.py:440] Available KV cache memory: 2.95 GiB\n"
      "(EngineCore pid=187) INFO [gpu_worker.py:455] CUDA graph memory profiling is enabled "
      "(default "
      "since v0.21.0). The current --gpu-memory-utilization=0.9000 is equivalent to "
      "--gpu-memory-utilization=0.8859 without CUDA graph memory profiling.\n"
      "(EngineCore pid=187) INFO [kv_cache_utils.py:1711] GPU KV cache size: 75,456 tokens, "
      "Maximum "
      "concurrency for 8,192 tokens per request: 14.70x\n"
      "(EngineCore pid=187) INFO Setting attention block size to 528 tokens to ensure ...\n"
      "(EngineCore pid=187) WARNING Add 3 padding layers, may waste at most 6.25% KV cache memory\n"
      "(EngineCore pid=187) INFO Graph capturing finished in 20 secs, took 0.41 GiB\n"
      "(EngineCore pid=187) INFO [gpu_worker.py:789] Free memory on device (22.9/23.58 GiB) on "
      "startup. Desired GPU memory utilization is (0.9, 21.22 GiB). Actual usage is 14.25 GiB for "
      "weight, 1.96 GiB for peak activation, 0.07 GiB for non-torch memory, and 0.65 GiB for "
      "CUDAGraph memory. Replace gpu_memory_utilization config with `--kv-cache-memory=1` ... "
      "Current kv cache memory in use is 3167545262 bytes.\n");
  CHECK(size(log, Term::weights) == doctest::Approx(14.25));
  CHECK(size(log, Term::graph_estimate) == doctest::Approx(0.45));
  CHECK(size(log, Term::kv_memory) == doctest::Approx(2.95));
  CHECK(figure(log, Term::equivalent_utilization) == doctest::Approx(0.8859));
  CHECK(figure(log, Term::tokens) == 75456);
  CHECK(figure(log, Term::max_concurrency) == doctest::Approx(14.7));
  CHECK(figure(log, Term::block_size) == 528);
  CHECK(figure(log, Term::padding_layers) == 3);
  CHECK(size(log, Term::total_memory) == doctest::Approx(23.58));
  CHECK(size(log, Term::budget) == doctest::Approx(21.22));
  CHECK(size(log, Term::activation) == doctest::Approx(1.96));
  CHECK(size(log, Term::non_torch) == doctest::Approx(0.07));
  CHECK(size(log, Term::cuda_graphs) == doctest::Approx(0.65));
}

TEST_CASE("the breakdown of memory before V1 is read") {
  const EngineLog log = read(
      "INFO 02-11 worker.py:266] the current vLLM instance can use total_gpu_memory (23.58GiB) x "
      "gpu_memory_utilization (0.90) = 21.22GiB\n"
      "INFO 02-11 worker.py:266] model weights take 14.99GiB; non_torch_memory takes 0.35GiB; "
      "PyTorch "
      "activation peak memory takes 2.07GiB; the rest of the memory reserved for KV Cache is "
      "3.81GiB.\n");
  CHECK(size(log, Term::total_memory) == doctest::Approx(23.58));
  CHECK(size(log, Term::budget) == doctest::Approx(21.22));
  CHECK(figure(log, Term::utilization) == doctest::Approx(0.9));
  CHECK(size(log, Term::weights) == doctest::Approx(14.99));
  CHECK(size(log, Term::non_torch) == doctest::Approx(0.35));
  CHECK(size(log, Term::activation) == doctest::Approx(2.07));
  CHECK(size(log, Term::kv_memory) == doctest::Approx(3.81));
}

TEST_CASE("refusals are kept with their figures") {
  const EngineLog log = read(
      "ValueError: To serve at least one request with the models's max seq len (262144), (62.00 "
      "GiB "
      "KV cache is needed, which is larger than the available KV cache memory (48.66 GiB). Based "
      "on "
      "the available memory, the estimated maximum model length is 205728. Try increasing ...\n");
  REQUIRE(log.refusals.size() == 1);
  CHECK(figure(log, Term::max_model_len) == 262144);
  CHECK(size(log, Term::kv_needed) == doctest::Approx(62));
  CHECK(size(log, Term::kv_memory) == doctest::Approx(48.66));
  CHECK(figure(log, Term::estimated_length) == 205728);
  const EngineLog old = read(
      "ValueError: The model's max seq len (29000) is larger than the maximum number of tokens "
      "that "
      "can be stored in KV cache (23648). Try increasing ...");
  CHECK(figure(old, Term::tokens) == 23648);
  CHECK(old.refusals.size() == 1);
  CHECK(read("ValueError: No available memory for the cache blocks. Try increasing ...")
            .refusals.size() == 1);
}

TEST_CASE("TensorRT-LLM lines are read") {
  const EngineLog log = read(
      "[TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: total: "
      "79.10 "
      "GiB, available: 63.62 GiB\n"
      "[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 400\n"
      "[TensorRT-LLM][INFO] Number of tokens per block: 32.\n"
      "[TensorRT-LLM][INFO] [MemUsageChange] Allocated 1.56 GiB for max tokens in paged KV cache "
      "(12800).\n"
      "[02/14/2025-09:38:53] [TRT-LLM] [I] max_seq_len=4096, max_num_requests=2048, "
      "max_num_tokens=8192\n");
  CHECK(log.engine == "trtllm");
  CHECK(size(log, Term::kv_memory) == doctest::Approx(1.56));
  CHECK(figure(log, Term::tokens) == 12800);
  CHECK(figure(log, Term::blocks) == 400);
  CHECK(figure(log, Term::block_size) == 32);
  CHECK(size(log, Term::total_memory) == doctest::Approx(79.1));
  CHECK(value(log, "--max-model-len") == "4096");
  CHECK(value(log, "--max-num-batched-tokens") == "8192");
  CHECK(value(log, "--block-size") == "32");
}

TEST_CASE("llama cpp buffers of a device are added up") {
  const EngineLog log = read(
      "build: 5500 (abc) with gcc\n"
      "llama_model_loader: loaded meta data with 30 key-value pairs and 291 tensors from "
      "models/Llama-3.1-8B-Q4_K_M.gguf (version GGUF V3)\n"
      "load_tensors:   CPU_Mapped model buffer size =   281.81 MiB\n"
      "load_tensors:        CUDA0 model buffer size =  4403.49 MiB\n"
      "llama_context: n_seq_max     = 1\n"
      "llama_context: n_ctx         = 8192\n"
      "llama_context: n_ubatch      = 512\n"
      "llama_kv_cache: size = 1024.00 MiB ( 8192 cells,  32 layers,  1/1 seqs), K (f16):  512.00 "
      "MiB, V (f16):  512.00 MiB\n"
      "llama_context:      CUDA0 compute buffer size =   258.50 MiB\n"
      "llama_context:  CUDA_Host compute buffer size =    24.01 MiB\n");
  CHECK(log.engine == "llamacpp");
  CHECK(log.version == "b5500");
  CHECK(log.flags.model == "models/Llama-3.1-8B-Q4_K_M.gguf");
  CHECK(figure(log, Term::weights) == doctest::Approx(4403.49 * 1048576));
  CHECK(figure(log, Term::activation) == doctest::Approx(258.5 * 1048576));
  CHECK(figure(log, Term::kv_memory) == 1024.0 * 1048576);
  CHECK(figure(log, Term::tokens) == 8192);
  CHECK(value(log, "--max-model-len") == "8192");
  CHECK(value(log, "--kv-cache-dtype") == "f16");
  CHECK(value(log, "--max-num-batched-tokens") == "512");
}

TEST_CASE("of a log with several starts the last one is read") {
  const EngineLog log = read(
      "INFO non-default args: {'model': 'a', 'max_model_len': 100}\n"
      "INFO GPU KV cache size: 10 tokens\n"
      "INFO non-default args: {'model': 'b', 'enforce_eager': True, 'speculative_config': "
      "{'method': "
      "'mtp', 'num_speculative_tokens': 3}, 'served_model_name': ['x', 'y']}\n"
      "INFO GPU KV cache size: 20 tokens\n");
  CHECK(log.starts == 2);
  CHECK(log.flags.model == "b");
  CHECK(figure(log, Term::tokens) == 20);
  CHECK(value(log, "--max-model-len") == "(none)");
  CHECK(value(log, "--enforce-eager").empty());
  CHECK(value(log, "--speculative-method") == "mtp");
  CHECK(value(log, "--num-speculative-tokens") == "3");
}

TEST_CASE("a text without lines about memory is refused with what was looked for") {
  for (const char* text : {"", "hello\nworld\n", "INFO non-default args: {'model': 'a'}\n"}) {
    std::string code, hint;
    try {
      read(text);
    } catch (const InputError& error) {
      code = error.diagnostics().front().code, hint = error.diagnostics().front().hint;
    }
    CHECK(code == "log-unknown");
    CHECK(hint.find("GPU KV cache size") != std::string::npos);
    CHECK(hint.find("KV Cache is allocated") != std::string::npos);
  }
}
