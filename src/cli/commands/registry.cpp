#include "cli/commands/registry.h"

#include <algorithm>

#include "cli/commands/makers.h"

namespace kvsim::cli {
namespace {

constexpr CommandEntry table[] = {
    // Answers
    {"plan", "does it fit, how many tokens and requests, how fast, what limits", "Answers",
     make_plan},
    {"run", "simulate a scenario: latency, throughput, KV use, what binds", "Answers", make_run},
    {"sweep", "simulate a grid of settings in parallel and compare them", "Answers", make_sweep},

    // Catalog

    {"model list", "models of the catalog, with size and KV per token", "Catalog", make_model_list},
    {"model show", "one model: dimensions, layer groups, KV bytes, sources", "Catalog",
     make_model_show},
    {"model import", "turn a Hugging Face config.json into a model file", "Catalog",
     make_model_import},
    {"model diff", "two models compared field by field", "Catalog", make_model_diff},
    {"gpu list", "accelerators of the catalog", "Catalog", make_gpu_list},
    {"gpu show", "one accelerator, figure by figure, with sources", "Catalog", make_gpu_show},

    // Workloads

    {"trace info", "lengths, rates and prefix reuse of a trace", "Workloads", make_trace_info},
    {"trace convert", "write a trace in another format", "Workloads", make_trace_convert},
    {"trace generate", "make requests from distributions", "Workloads", make_trace_generate},
    {"trace slice", "write a part of a trace, or faster", "Workloads", make_trace_slice},

    // Trust

    {"check", "validate any kvsim file; --resolve shows every value and its origin", "Trust",
     make_check},
    {"calibrate",
     "measured kernel times into fitted cost files, with their errors on held-out rows", "Trust",
     make_calibrate, OutputFiles::own},
    {"validate", "predicted against measured, per kernel and regime; --max-error gates", "Trust",
     make_validate},
    {"conform", "recorded engine decisions replayed: what kvsim does otherwise, and where", "Trust",
     make_conform},

    // Results

    {"report", "render a result: text, HTML, CSV, Prometheus, vLLM-bench; never re-simulates",
     "Results", make_report},
    {"compare", "a result against another: exit 1 on a regression", "Results", make_compare},

    // Help

    {"explain", "what a metric, field, flag, policy or error code means", "Help", make_explain},
    {"completion", "print the completion script of a shell", "Help", make_completion},
    {"version", "version, behaviour number and schema numbers", "Help", make_version},
};

std::string_view first_word(std::string_view name) { return name.substr(0, name.find(' ')); }

}  // namespace

std::span<const CommandEntry> commands() { return table; }

const CommandEntry* find_command(std::string_view name) {
  const auto at = std::ranges::find(table, name, &CommandEntry::name);
  return at == std::end(table) ? nullptr : at;
}

std::vector<std::string> second_words(std::string_view word) {
  std::vector<std::string> out;
  for (const CommandEntry& entry : table)
    if (first_word(entry.name) == word && entry.name.size() > word.size())
      out.emplace_back(entry.name.substr(word.size() + 1));
  return out;
}

std::vector<std::string> first_words() {
  std::vector<std::string> out;
  for (const CommandEntry& entry : table) {
    const std::string word(first_word(entry.name));
    if (std::ranges::count(out, word) == 0) out.push_back(word);
  }
  return out;
}

}  // namespace kvsim::cli
