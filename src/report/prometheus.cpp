#include <fmt/format.h>

#include "report/exporter.h"

namespace kvsim::report {
namespace {

using namespace metrics;

// Names of vllm/v1/metrics/loggers.py as of vLLM 0.21; counters end in _total in the exposition.
class Exposition {
 public:
  explicit Exposition(std::string prefix) : prefix_(std::move(prefix)) {}

  void scalar(std::string_view name, std::string_view type, std::string_view help, double value) {
    head(name, type, help);
    fmt::format_to(std::back_inserter(out), "{}{} {}\n", prefix_, name, value);
  }
  void histogram(const Histogram& h) {
    head(h.name, "histogram", "");
    std::int64_t below = 0;
    for (std::size_t i = 0; i < h.edges.size(); ++i) {
      below += h.counts[i];
      fmt::format_to(std::back_inserter(out), "{}{}_bucket{{le=\"{}\"}} {}\n", prefix_, h.name,
                     h.edges[i], below);
    }
    fmt::format_to(std::back_inserter(out),
                   "{0}{1}_bucket{{le=\"+Inf\"}} {2}\n{0}{1}_sum {3}\n{0}{1}_count {2}\n", prefix_,
                   h.name, h.count, h.sum);
  }

  std::string out;

 private:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    if (!help.empty())
      fmt::format_to(std::back_inserter(out), "# HELP {}{} {}\n", prefix_, name, help);
    fmt::format_to(std::back_inserter(out), "# TYPE {}{} {}\n", prefix_, name, type);
  }
  std::string prefix_;
};

double last(const std::vector<double>& values) { return values.empty() ? 0 : values.back(); }

}  // namespace

std::string render_prometheus(const RunResult& r, const Style& style) {
  Exposition e(style.prometheus_prefix);
  const auto count = [](std::int64_t n) { return static_cast<double>(n); };
  e.scalar("num_requests_running", "gauge", "Requests running, mean of the last interval.",
           last(r.series.running));
  e.scalar("num_requests_waiting", "gauge", "Requests waiting, mean of the last interval.",
           last(r.series.waiting));
  e.scalar("kv_cache_usage_perc", "gauge",
           "Share of KV blocks held by requests, 1 = all, mean of the last interval.",
           last(r.series.kv_used_ratio));
  e.scalar("prefix_cache_queries_total", "counter", "Prompt tokens looked up in the prefix cache.",
           count(r.kv.prefix_query_tokens));
  e.scalar("prefix_cache_hits_total", "counter", "Of these, found.", count(r.kv.prefix_hit_tokens));
  e.scalar("num_preemptions_total", "counter", "Times a running request was put back.",
           count(r.kv.preemptions));
  e.scalar("prompt_tokens_total", "counter", "Prompt tokens of completed requests.",
           count(r.summary.total_input_tokens));
  e.scalar("generation_tokens_total", "counter", "Output tokens of completed requests.",
           count(r.summary.total_output_tokens));
  e.scalar("request_success_total", "counter", "Completed requests.", count(r.summary.completed));
  for (const Histogram& h : r.histograms) e.histogram(h);
  return std::move(e.out);
}

}  // namespace kvsim::report
