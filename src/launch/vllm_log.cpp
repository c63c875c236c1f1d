#include <algorithm>

#include "launch/log_scan.h"
#include "launch/values.h"

// vLLM's start-up log, 0.2 to main of 2026-08: gpu_worker.py, gpu_model_runner.py,
// kv_cache_utils.py, and worker.py and executor_base.py before V1. Its "GB" are GiB.
namespace kvsim::launch {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

const std::vector<LineForm>& forms() {
  static const std::vector<LineForm> list{
      {"Model loading took {} GiB", {Term::weights}, gib},
      {"Model loading took {} GB", {Term::weights}, gib},
      {"Loading model weights took {} GB", {Term::weights}, gib},
      {"Loading model weights took {} GiB", {Term::weights}, gib},
      {"model weights take {} GiB; non_torch_memory takes {} GiB; PyTorch activation peak memory "
       "takes {} GiB; the rest of the memory reserved for KV Cache is {} GiB",
       {Term::weights, Term::non_torch, Term::activation, Term::kv_memory},
       gib},
      {"total_gpu_memory ({} GiB) x gpu_memory_utilization ({}) = {} GiB",
       {Term::total_memory, Term::utilization, Term::budget},
       gib},
      {"total_gpu_memory={} GiB", {Term::total_memory}, gib},
      {"peak_torch_memory={} GiB", {Term::peak_torch}, gib},
      {"non_torch_memory={} GiB", {Term::non_torch}, gib},
      {"kv_cache_size={} GiB", {Term::kv_memory}, gib},
      {"Available KV cache memory: {} GiB", {Term::kv_memory}, gib},
      {"GPU KV cache size: {} tokens", {Term::tokens}, 1},
      {"Maximum concurrency for {} tokens per request: {}x",
       {Term::max_model_len, Term::max_concurrency},
       1},
      {"# GPU blocks: {}, # CPU blocks: {}", {Term::blocks, Term::cpu_blocks}, 1},
      {"# cuda blocks: {}, # CPU blocks: {}", {Term::blocks, Term::cpu_blocks}, 1},
      {"# CUDA blocks: {}, # CPU blocks: {}", {Term::blocks, Term::cpu_blocks}, 1},
      {"Graph capturing finished in {} secs, took {} GiB", {{}, Term::cuda_graphs}, gib},
      {"Estimated CUDA graph memory: {} GiB", {Term::graph_estimate}, gib},
      {"--gpu-memory-utilization={} is equivalent to --gpu-memory-utilization={}",
       {Term::utilization, Term::equivalent_utilization},
       1},
      {"CUDA graph pool memory: {} GiB (actual), {} GiB (estimated)",
       {Term::cuda_graphs, Term::graph_estimate},
       gib},
      {"Setting attention block size to {} tokens", {Term::block_size}, 1},
      {"Add {} padding layers", {Term::padding_layers}, 1},
      {"Free memory on device{*}({}/{} GiB) on startup",
       {Term::free_memory, Term::total_memory},
       gib},
      {"Desired GPU memory utilization is ({}, {} GiB)", {Term::utilization, Term::budget}, gib},
      {"Actual usage is {} GiB for weight, {} GiB for peak activation, {} GiB for non-torch "
       "memory, "
       "and {} GiB for CUDAGraph memory",
       {Term::weights, Term::activation, Term::non_torch, Term::cuda_graphs},
       gib},
      {"Actual usage is {} GiB for consumed memory (weights + non-torch), {} GiB for peak "
       "activation, and {} GiB for CUDAGraph memory",
       {Term::consumed, Term::activation, Term::cuda_graphs},
       gib},
      {"Current kv cache memory in use is {} GiB", {Term::kv_memory}, gib},
      {"Current kv cache memory in use is {} bytes", {Term::kv_memory}, 1},
      {"max seq len ({}), ({} GiB KV cache is needed, which is larger than the available KV cache "
       "memory ({} GiB)",
       {Term::max_model_len, Term::kv_needed, Term::kv_memory},
       gib},
      {"max seq len ({}), {} GiB KV cache is needed, which is larger than the available KV cache "
       "memory ({} GiB)",
       {Term::max_model_len, Term::kv_needed, Term::kv_memory},
       gib},
      {"estimated maximum model length is {}", {Term::estimated_length}, 1},
      {"max seq len ({}) is larger than the maximum number of tokens that can be stored in KV "
       "cache "
       "({})",
       {Term::max_model_len, Term::tokens},
       1},
      {"Using max model len {}", {Term::max_model_len}, 1},
  };
  return list;
}

constexpr std::string_view refusals[] = {
    "No available memory for the cache blocks", "KV cache is needed, which is larger than",
    "is larger than the maximum number of tokens that can be stored",
    "is less than desired GPU memory utilization"};

void take_version(EngineLog& log, const std::string& text) {
  for (const char* marker : {"LLM engine (v", "API server version ", "█  version ", "version=v"}) {
    const std::string word = word_after(text, marker);
    if (!word.empty()) log.version = word;
  }
}

// The engine's config line prints every field; a few say what the arguments do not.
void take_config(std::vector<Argument>& arguments, std::string_view pairs, int line) {
  std::vector<Argument> all;
  take_pairs(all, vllm_flags(), pairs, line, Printed::everything);
  for (const PythonPair& pair : python_pairs(pairs))
    if (pair.key == "max_seq_len") {
      Argument a;
      a.row = find_row(vllm_flags(), "--max-model-len");
      a.name = "--max-model-len", a.values = {pair.value};
      a.from = "max_seq_len=" + pair.value, a.line = line;
      all.push_back(std::move(a));
    }
  for (Argument& a : all) {
    if (first_name(*a.row) == "--speculative-config") {
      std::string& json = a.values.front();
      if (const auto at = json.find("\"num_spec_tokens\""); at != std::string::npos)
        json.replace(at, 17, "\"num_speculative_tokens\"");
    }
    const bool known = std::any_of(arguments.begin(), arguments.end(),
                                   [&](const Argument& b) { return b.row == a.row; });
    if (!known) arguments.push_back(std::move(a));
  }
}

bool read(EngineLog& log, std::vector<Argument>& arguments, const LogLine& line) {
  const std::string& text = line.text;
  bool own = false;
  take_version(log, text);
  for (const char* marker : {"non-default args: ", "args: Namespace("}) {
    const auto at = text.find(marker);
    if (at == std::string::npos) continue;
    if (!log.figures.empty()) {
      ++log.starts;
      log.figures.clear(), log.refusals.clear();
    }
    arguments.clear();
    const bool all = std::string_view(marker).starts_with("args");
    take_pairs(arguments, vllm_flags(),
               std::string_view(text).substr(at + std::string_view(marker).size()), line.number,
               all ? Printed::everything : Printed::given);
    own = true;
    break;
  }
  if (const auto at = text.find("LLM engine (v"); at != std::string::npos) {
    own = true;
    if (const auto config = text.find("with config: "); config != std::string::npos)
      take_config(arguments, std::string_view(text).substr(config + 13), line.number);
  }
  if (const auto n = numbers_in(text, "Chunked prefill is enabled with max_num_batched_tokens={}");
      n && !find_argument(arguments, "--max-num-batched-tokens")) {
    Argument a;
    a.row = find_row(vllm_flags(), "--max-num-batched-tokens");
    a.name = "--max-num-batched-tokens";
    a.values = {std::to_string(static_cast<long long>(n->front()))};
    a.from = "max_num_batched_tokens=" + a.values.front(), a.line = line.number;
    arguments.push_back(std::move(a));
    own = true;
  }
  for (std::string_view refusal : refusals)
    if (text.find(refusal) != std::string::npos) {
      log.refusals.push_back({line.number, text});
      own = true;
      break;
    }
  return take_forms(log, line, forms()) || own;
}

}  // namespace

const LogReader& vllm_log() {
  static constexpr LogReader reader{
      vllm_flags, read,
      "vLLM: \"Available KV cache memory: ... GiB\", \"GPU KV cache size: ... tokens\", \"# GPU "
      "blocks: ...\", \"Model loading took ... GiB\", \"model weights take ...\", \"non-default "
      "args: ...\""};
  return reader;
}

}  // namespace kvsim::launch
