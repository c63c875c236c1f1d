#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/commands/plan_sources.h"
#include "cli/usage.h"
#include "config/document.h"
#include "diag/diagnostic.h"
#include "memory/rules.h"

// From a start-up log to the deployment that printed it.
namespace kvsim::cli {
namespace {

using launch::EngineLog;
using launch::Figure;
using launch::Term;

bool sets(const EngineLog& log, std::string_view flag) {
  return std::any_of(log.flags.settings.begin(), log.flags.settings.end(),
                     [&](const launch::Setting& s) { return s.flag == flag; });
}

void add(EngineLog& log, const char* flag, std::string value, std::string from, int line) {
  if (!sets(log, flag))
    log.flags.settings.push_back({flag, std::move(value), std::move(from), line, false});
}

// The tensor size that the workers' own names tell: Worker_TP3 is the fourth.
int tensor_ranks(const EngineLog& log) {
  int ranks = 1;
  for (const std::string& worker : log.workers) {
    const auto at = worker.find("TP");
    if (at == std::string::npos) continue;
    int rank = 0;
    for (std::size_t i = at + 2;
         i < worker.size() && std::isdigit(static_cast<unsigned char>(worker[i])) && rank < 1024;
         ++i)
      rank = rank * 10 + (worker[i] - '0');
    ranks = std::max(ranks, rank + 1);
  }
  return ranks;
}

// Settings that follow from printed figures, where the arguments do not say them.
void add_printed_settings(EngineLog& log) {
  if (const Figure* f = log.find(Term::max_model_len))
    add(log, "--max-model-len", fmt::format("{}", static_cast<std::int64_t>(f->value)),
        "the length that the log prints", f->line);
  if (const Figure* f = log.find(Term::utilization); f && log.engine == "vllm-v1")
    add(log, "--gpu-memory-utilization", fmt::format("{:g}", f->value),
        "the utilization that the log prints", f->line);
  if (const int ranks = tensor_ranks(log); ranks > 1)
    add(log, "--tensor-parallel-size", std::to_string(ranks), "the workers of the log", 0);
}

// The version, if its rules are known; the newest rules otherwise, and a warning.
void add_version(EngineLog& log, std::vector<std::string>& warnings) {
  if (log.version.empty()) {
    warnings.push_back("the log does not print the engine's version: the newest rules are taken");
    return;
  }
  try {
    memory::resolve_rules(memory::parse_engine(log.engine), log.version);
  } catch (const InputError& error) {
    warnings.push_back(fmt::format("{}: the newest rules are taken", error.what()));
    return;
  }
  log.flags.settings.insert(log.flags.settings.begin(),
                            {"--engine-version", log.version, "the log", 0, false});
}

void find_gpu(PlanFlags& flags, const EngineLog& log, const spec::Catalog& catalog,
              std::vector<std::string>& warnings) {
  if (!flags.gpu().empty()) return;
  const Figure* total = log.find(Term::total_memory);
  if (!total)
    throw UsageError("plan needs --gpu GPU: the log does not print the GPU's memory",
                     "kvsim gpu list shows those of the catalog", "usage-missing");
  std::vector<std::string> fitting;
  for (const std::string& id : catalog.gpu_ids()) {
    const double usable = static_cast<double>(catalog.gpu(id).usable_memory().value());
    if (std::abs(usable - total->value) <= 0.003 * total->value) fitting.push_back(id);
  }
  const double size = total->value / static_cast<double>(gib);
  if (fitting.size() != 1)
    throw UsageError(
        fmt::format("plan needs --gpu GPU: {} of the catalog report the {:.2f} GiB of the log",
                    fitting.empty() ? "none" : "several", size),
        fitting.empty() ? "kvsim gpu list shows those of the catalog"
                        : fmt::format("one of {}", fmt::join(fitting, ", ")),
        "usage-missing");
  warnings.push_back(fmt::format("the GPU is taken as {}, by its {:.2f} GiB (line {})",
                                 fitting.front(), size, total->line));
  flags.set_gpu(fitting.front());
}

}  // namespace

launch::EngineLog fill_from_log(PlanFlags& flags, const std::string& path,
                                const spec::Catalog& catalog, std::vector<std::string>& warnings) {
  const PastedText pasted{path == "-" ? "stdin" : path, "log"};
  EngineLog log = launch::read_engine_log(config::read_file(path), pasted.file);
  find_gpu(flags, log, catalog, warnings);
  if (log.starts > 1)
    warnings.push_back(fmt::format("the log holds {} starts: the last is read", log.starts));
  add_printed_settings(log);
  add_version(log, warnings);
  log.flags.settings.insert(log.flags.settings.begin(),
                            {"--engine", log.engine, "the log", 0, false});
  fill_from_translation(flags, log.flags, pasted, catalog, warnings);
  return log;
}

}  // namespace kvsim::cli
