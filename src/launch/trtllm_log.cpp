#include "launch/log_scan.h"

// TensorRT-LLM's start-up log (kvCacheManager.cpp and py_executor_creator.py, 0.9 to 1.2).
namespace kvsim::launch {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

const std::vector<LineForm>& forms() {
  static const std::vector<LineForm> list{
      {"Allocated {} GiB for max tokens in paged KV cache ({})",
       {Term::kv_memory, Term::tokens},
       gib},
      {"Number of blocks in KV cache primary pool: {}", {Term::blocks}, 1},
      {"Number of tokens per block: {}", {Term::block_size}, 1},
      {"max tokens in paged kv cache: total: {} GiB, available: {} GiB", {Term::total_memory}, gib},
      {"[TRT-LLM] [I] max_seq_len={}", {Term::max_model_len}, 1},
  };
  return list;
}

void set(std::vector<Argument>& arguments, const char* flag, double value, int line) {
  Argument a;
  a.row = find_row(trtllm_flags(), flag), a.name = flag, a.line = line;
  for (const Argument& other : arguments)
    if (other.row == a.row) return;
  a.values = {std::to_string(static_cast<long long>(value))};
  a.from = std::string(flag) + "=" + a.values.front();
  arguments.push_back(std::move(a));
}

bool read(EngineLog& log, std::vector<Argument>& arguments, const LogLine& line) {
  const std::string& text = line.text;
  bool own = text.find("[TensorRT-LLM][") != std::string::npos ||
             text.find("[TRT-LLM] [") != std::string::npos;
  if (const std::string version = word_after(text, "LLM version: "); !version.empty() && own)
    log.version = version;
  if (own) {
    if (const auto n = numbers_in(text, "max_seq_len={}, max_num_requests={}, max_num_tokens={}")) {
      set(arguments, "--max-seq-len", (*n)[0], line.number);
      set(arguments, "--max-num-tokens", (*n)[2], line.number);
    }
    if (const auto n = numbers_in(text, "max_batch_size={}"))
      set(arguments, "--max-batch-size", n->front(), line.number);
    if (const auto n = numbers_in(text, "Number of tokens per block: {}"))
      set(arguments, "--tokens-per-block", n->front(), line.number);
  }
  return take_forms(log, line, forms()) || own;
}

}  // namespace

const LogReader& trtllm_log() {
  static constexpr LogReader reader{trtllm_flags, read,
                                    "TensorRT-LLM: \"[MemUsageChange] Allocated ... GiB for max "
                                    "tokens in paged KV cache (...)\", "
                                    "\"Number of blocks in KV cache primary pool: ...\""};
  return reader;
}

}  // namespace kvsim::launch
