#include <algorithm>

#include "launch/log_scan.h"

// SGLang's start-up log, 0.4 to main of 2026-07 (model_runner.py, memory_pool.py, scheduler.py).
// Its "GB" are GiB.
namespace kvsim::launch {
namespace {

constexpr double gib = 1024.0 * 1024 * 1024;

const std::vector<LineForm>& forms() {
  static const std::vector<LineForm> list{
      {"Load weight begin. avail mem={} GB", {Term::free_memory}, gib},
      {"max_total_num_tokens={}", {Term::tokens}, 1},
      {"context_len={}", {Term::max_model_len}, 1},
      {"max_mamba_cache_size: {}", {Term::state_slots}, 1},
  };
  return list;
}

// The drafter's lines follow the model's own and look the same: the first of each worker counts.
bool seen(const EngineLog& log, const LogLine& line, Term term) {
  return std::any_of(log.figures.begin(), log.figures.end(),
                     [&](const Figure& f) { return f.term == term && f.worker == line.worker; });
}

void set(std::vector<Argument>& arguments, const char* flag, double value, int line) {
  const FlagRow* row = find_row(sglang_flags(), flag);
  if (std::any_of(arguments.begin(), arguments.end(),
                  [&](const Argument& a) { return a.row == row; }))
    return;
  Argument a;
  a.row = row, a.name = flag, a.line = line;
  a.values = {std::to_string(static_cast<long long>(value))};
  a.from = std::string(flag) + "=" + a.values.front();
  arguments.push_back(std::move(a));
}

bool pools(EngineLog& log, const LogLine& line) {
  const std::string& text = line.text;
  if (text.find("KV Cache is allocated.") != std::string::npos) {
    const auto tokens = numbers_in(text, "#tokens: {}");
    const auto k = numbers_in(text, "K size: {} GB, V size: {} GB");
    const auto both = numbers_in(text, "KV size: {} GB");
    if (seen(log, line, Term::kv_memory)) return true;
    if (k) add_figure(log, line, Term::kv_memory, ((*k)[0] + (*k)[1]) * gib);
    if (!k && both) add_figure(log, line, Term::kv_memory, both->front() * gib);
    if (tokens) add_figure(log, line, Term::tokens, tokens->front());
    return true;
  }
  if (const auto states = numbers_in(text, "conv_state size: {} GB, ssm_state size: {} GB")) {
    if (!seen(log, line, Term::state_memory))
      add_figure(log, line, Term::state_memory, ((*states)[0] + (*states)[1]) * gib);
    return true;
  }
  return false;
}

bool read(EngineLog& log, std::vector<Argument>& arguments, const LogLine& line) {
  const std::string& text = line.text;
  bool own = pools(log, line);
  if (const auto at = text.find("server_args=ServerArgs("); at != std::string::npos) {
    if (!log.figures.empty()) {
      ++log.starts;
      log.figures.clear(), log.refusals.clear();
    }
    arguments.clear();
    take_pairs(arguments, sglang_flags(), std::string_view(text).substr(at + 22), line.number,
               Printed::everything);
    own = true;
  }
  if (const std::string version = word_after(text, "sglang version "); !version.empty())
    log.version = version;
  if (text.find("Load weight end") != std::string::npos) {
    const auto used = numbers_in(text, "mem usage={} GB");
    if (used && !seen(log, line, Term::weights))
      add_figure(log, line, Term::weights, used->front() * gib);
    own = true;
  }
  if (text.find("graph end") != std::string::npos) {
    const auto used = numbers_in(text, "mem usage={} GB");
    if (used && !seen(log, line, Term::cuda_graphs))
      add_figure(log, line, Term::cuda_graphs, used->front() * gib);
    own = true;
  }
  if (text.find("max_total_num_tokens=") != std::string::npos) {
    if (const auto n = numbers_in(text, "chunked_prefill_size={}"))
      set(arguments, "--chunked-prefill-size", n->front(), line.number);
    if (const auto n = numbers_in(text, "max_running_requests={}"))
      set(arguments, "--max-running-requests", n->front(), line.number);
  }
  for (const char* refusal : {"Not enough memory. Please try to increase --mem-fraction-static",
                              "Not enough memory; increase --mem-fraction-static"})
    if (text.find(refusal) != std::string::npos) {
      log.refusals.push_back({line.number, text});
      own = true;
    }
  return take_forms(log, line, forms()) || own;
}

}  // namespace

const LogReader& sglang_log() {
  static constexpr LogReader reader{sglang_flags, read,
                                    "SGLang: \"KV Cache is allocated. #tokens: ...\", "
                                    "\"max_total_num_tokens=...\", \"Load weight "
                                    "end. ...\", \"server_args=ServerArgs(...)\""};
  return reader;
}

}  // namespace kvsim::launch
