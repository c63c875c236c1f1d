#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvsim::metrics {

// Counts of values per bucket, as a Prometheus histogram has them. A value falls into the first
// bucket whose edge it does not exceed, else only into the total.
struct Histogram {
  std::string name;                  // "time_to_first_token_seconds"
  std::vector<double> edges;         // ascending
  std::vector<std::int64_t> counts;  // per edge, not cumulative
  std::int64_t count = 0;
  double sum = 0;

  Histogram() = default;
  Histogram(std::string_view name, std::span<const double> edges);
  void add(double value, std::int64_t times = 1);
};

// The bucket edges of vLLM's own histograms (vllm/v1/metrics/loggers.py, 0.21), in seconds.
std::span<const double> ttft_edges();
std::span<const double> token_edges();    // inter-token latency and time per output token
std::span<const double> request_edges();  // end to end, queue, prefill and decode time

}  // namespace kvsim::metrics
