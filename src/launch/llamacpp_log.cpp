#include <algorithm>

#include "launch/log_scan.h"

// llama.cpp's start-up log (llama-kv-cache.cpp, llama-model.cpp, llama-context.cpp, builds 3000 to
// 7000). Sizes in MiB.
namespace kvsim::launch {
namespace {

constexpr double mib = 1024.0 * 1024;

// Adds to the worker's figure: a model has several buffers, a window model two caches.
void add_to(EngineLog& log, const LogLine& line, const std::string& device, Term term,
            double value) {
  for (Figure& f : log.figures)
    if (f.term == term && f.worker == device) {
      f.value += value;
      return;
    }
  log.figures.push_back({term, value, device, line.number, line.text});
}

// "CUDA0" of "load_tensors:   CUDA0 model buffer size =  4685.30 MiB"; "" for buffers on the host.
std::string device_before(std::string_view text, std::string_view marker) {
  const auto at = text.find(marker);
  if (at == std::string_view::npos || at == 0) return "";
  const auto end = text.find_last_not_of(' ', at - 1);
  if (end == std::string_view::npos) return "";
  const auto begin = text.find_last_of(' ', end);
  const std::string_view word =
      text.substr(begin == std::string_view::npos ? 0 : begin + 1,
                  end - (begin == std::string_view::npos ? 0 : begin + 1) + 1);
  for (const char* host : {"CPU", "Host", "_Host", "BLAS"})
    if (word.find(host) != std::string_view::npos) return "";
  return std::string(word);
}

bool buffer(EngineLog& log, const LogLine& line, std::string_view marker, Term term) {
  if (line.text.find(marker) == std::string::npos) return false;
  const std::string device = device_before(line.text, marker);
  const auto size = numbers_in(line.text.substr(line.text.find(marker)), "= {} MiB");
  if (!device.empty() && size) add_to(log, line, device, term, size->front() * mib);
  return true;
}

bool caches(EngineLog& log, const LogLine& line) {
  const std::string& text = line.text;
  for (const char* pattern : {"llama_kv_cache: size = {} MiB",
                              "llama_kv_cache_unified: size = {} MiB", "KV self size = {} MiB"}) {
    const auto size = numbers_in(text, pattern);
    if (!size) continue;
    add_to(log, line, "", Term::kv_memory, size->front() * mib);
    const bool first = std::none_of(log.figures.begin(), log.figures.end(),
                                    [](const Figure& f) { return f.term == Term::tokens; });
    if (const auto cells = numbers_in(text, "MiB ( {} cells"); cells && first)
      add_figure(log, line, Term::tokens, cells->front());
    return true;
  }
  if (const auto size = numbers_in(text, "llama_memory_recurrent: size = {} MiB")) {
    add_to(log, line, "", Term::state_memory, size->front() * mib);
    return true;
  }
  return false;
}

void set(std::vector<Argument>& arguments, const char* flag, std::string value,
         const LogLine& line) {
  Argument a;
  a.row = find_row(llamacpp_flags(), flag), a.name = flag, a.line = line.number;
  std::erase_if(arguments, [&](const Argument& other) { return other.row == a.row; });
  a.from = std::string(flag) + " " + value;
  a.values = {std::move(value)};
  arguments.push_back(std::move(a));
}

bool read(EngineLog& log, std::vector<Argument>& arguments, const LogLine& line) {
  const std::string& text = line.text;
  bool own = caches(log, line);
  own |= buffer(log, line, " model buffer size", Term::weights);
  own |= buffer(log, line, " compute buffer size", Term::activation);
  if (text.find("llama_model_loader: loaded meta data") != std::string::npos) {
    const std::string path = word_after(text, " tensors from ");
    if (!path.empty()) set(arguments, "--model", path, line);
    own = true;
  }
  if (const auto n = numbers_in(text, "n_ctx = {}");
      n && text.find("llama_") != std::string::npos) {
    set(arguments, "--ctx-size", std::to_string(static_cast<long long>(n->front())), line);
    own = true;
  }
  if (const auto n = numbers_in(text, "n_seq_max = {}");
      n && text.find("llama_") != std::string::npos)
    set(arguments, "--parallel", std::to_string(static_cast<long long>(n->front())), line);
  if (const auto n = numbers_in(text, "n_ubatch = {}");
      n && text.find("llama_") != std::string::npos)
    set(arguments, "--ubatch-size", std::to_string(static_cast<long long>(n->front())), line);
  if (own)
    if (const auto k = text.find("K ("); k != std::string::npos) {
      const std::string type = text.substr(k + 3, text.find(')', k) - k - 3);
      set(arguments, "--cache-type-k", type, line);
      set(arguments, "--cache-type-v", type, line);
      if (const auto v = text.find("V ("); v != std::string::npos)
        set(arguments, "--cache-type-v", text.substr(v + 3, text.find(')', v) - v - 3), line);
    }
  if (const auto n = numbers_in(text, "build: {} ("); n && text.starts_with("build: "))
    log.version = "b" + std::to_string(static_cast<long long>(n->front()));
  return own;
}

}  // namespace

const LogReader& llamacpp_log() {
  static constexpr LogReader reader{
      llamacpp_flags, read,
      "llama.cpp: \"llama_kv_cache: size = ... MiB\", \"model buffer size = ... MiB\""};
  return reader;
}

}  // namespace kvsim::launch
