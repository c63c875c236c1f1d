#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "metrics/result.h"

namespace kvsim::report {

enum class Glyphs { unicode, ascii };

// What a rendering may depend on besides the result; nothing about the machine.
struct Style {
  Glyphs glyphs = Glyphs::unicode;
  std::string scenario = "SCENARIO";  // how the user named it, for the command that comes next
  std::vector<std::string> sets;      // --set of that run, as path=value
  std::optional<std::int64_t> seed;   // --seed of that run
  std::string prometheus_prefix = "kvsim:";
  bool detailed = false;            // JSON and vLLM-bench: with every request
  std::vector<std::string> checks;  // text: lines to print before the verdict
};

// One rendering of a result document. Contract: pure, and equal results give equal bytes.
struct Exporter {
  std::string_view name;     // flag of `report`, without dashes
  std::string_view summary;  // one line
  std::string (*render)(const metrics::RunResult&, const Style&);
};

std::span<const Exporter> exporters();
const Exporter* find_exporter(std::string_view name);

// The rows of the registry, one file each.
std::string render_text(const metrics::RunResult& result, const Style& style);
std::string render_json(const metrics::RunResult& result, const Style& style);
std::string render_html(const metrics::RunResult& result, const Style& style);
std::string render_csv(const metrics::RunResult& result, const Style& style);
std::string render_requests(const metrics::RunResult& result, const Style& style);
std::string render_prometheus(const metrics::RunResult& result, const Style& style);
std::string render_vllm_bench(const metrics::RunResult& result, const Style& style);

}  // namespace kvsim::report
