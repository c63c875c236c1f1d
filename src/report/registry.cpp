#include <algorithm>

#include "report/exporter.h"
#include "report/json.h"

namespace kvsim::report {
namespace {

constexpr Exporter table[] = {
    {"text", "summary for people, verdict last", render_text},
    {"json", "the result document kvsim.run/1", render_json},
    {"html", "one self-contained page with plots", render_html},
    {"csv", "one line per request (needs their records)", render_csv},
    {"requests", "one JSON line per request (needs their records)", render_requests},
    {"prometheus", "text exposition with vLLM's metric names under kvsim:", render_prometheus},
    {"vllm-bench", "the JSON of vllm bench serve", render_vllm_bench},
};

}  // namespace

std::span<const Exporter> exporters() { return table; }

const Exporter* find_exporter(std::string_view name) {
  const auto at = std::ranges::find(table, name, &Exporter::name);
  return at == std::end(table) ? nullptr : at;
}

std::string render_json(const metrics::RunResult& result, const Style& style) {
  return style.detailed ? to_json_detailed(result) : to_json(result);
}

}  // namespace kvsim::report
