#include "launch/engine_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "diag/diagnostic.h"
#include "launch/log_scan.h"
#include "launch/translate.h"

namespace kvsim::launch {
namespace {

// For these the smaller figure is the worse one.
bool less_is_worse(Term t) {
  return t == Term::total_memory || t == Term::free_memory || t == Term::budget ||
         t == Term::kv_memory || t == Term::tokens || t == Term::blocks ||
         t == Term::estimated_length;
}

// Of repeated figures of one process the later one counts, but of pools the smallest: an engine
// core prints the line once per worker.
bool smallest_counts(Term t) { return t == Term::tokens || t == Term::blocks; }

struct Reading {
  EngineLog log;
  std::vector<Argument> arguments;
  int lines = 0;
};

void take_workers(EngineLog& log) {
  std::set<std::string_view> seen;
  for (const Figure& f : log.figures)
    if (!f.worker.empty() && seen.insert(f.worker).second) log.workers.push_back(f.worker);
  const auto is_core = [](const std::string& w) { return w.starts_with("EngineCore"); };
  if (!std::all_of(log.workers.begin(), log.workers.end(), is_core))
    std::erase_if(log.workers, is_core);
}

Reading read_with(const LogReader& reader, const std::vector<LogLine>& lines) {
  Reading r;
  r.log.engine = reader.flags().engine;
  for (const LogLine& line : lines) r.lines += reader.read(r.log, r.arguments, line);
  return r;
}

}  // namespace

std::string EngineLog::poorest() const {
  for (Term term : {Term::kv_memory, Term::tokens, Term::blocks, Term::weights}) {
    const Figure* worst = nullptr;
    for (const Figure& f : figures) {
      if (f.term != term || f.worker.empty()) continue;
      if (!worst || (less_is_worse(term) ? f.value < worst->value : f.value > worst->value))
        worst = &f;
    }
    if (worst) return worst->worker;
  }
  return "";
}

const Figure* EngineLog::find(Term term) const {
  const std::string worker = poorest();
  const auto last = [&](const std::string& of) {
    const Figure* found = nullptr;
    for (const Figure& f : figures)
      if (f.term == term && f.worker == of &&
          (!found || !smallest_counts(term) || f.value < found->value))
        found = &f;
    return found;
  };
  if (const Figure* f = last(worker)) return f;
  if (const Figure* f = last("")) return f;
  const Figure* worst = nullptr;
  for (const Figure& f : figures)
    if (f.term == term &&
        (!worst || (less_is_worse(term) ? f.value < worst->value : f.value > worst->value)))
      worst = &f;
  return worst;
}

EngineLog read_engine_log(std::string_view text, const std::string& name) {
  const std::vector<LogLine> lines = log_lines(text);
  const LogReader* const readers[] = {&vllm_log(), &sglang_log(), &trtllm_log(), &llamacpp_log()};
  Reading best;
  const LogReader* chosen = nullptr;
  for (const LogReader* reader : readers) {
    Reading r = read_with(*reader, lines);
    if (r.lines > best.lines) best = std::move(r), chosen = reader;
  }
  if (!chosen || (best.log.figures.empty() && best.log.refusals.empty())) {
    std::string hint = "looked for lines of ";
    for (const LogReader* reader : readers)
      hint += (reader == readers[0] ? "" : "; ") + std::string(reader->looked_for);
    throw InputError(Diagnostic{.code = "log-unknown",
                                .message = "no line of the text says how an engine spent memory",
                                .file = name,
                                .hint = hint});
  }
  EngineLog log = std::move(best.log);
  log.flags = translate(chosen->flags(), best.arguments, name);
  take_workers(log);
  return log;
}

}  // namespace kvsim::launch
