#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "workload/trace/format.h"

// Reading a request list of 10,000 lines; nlohmann/json over the same lines is the yardstick.

using namespace kvsim;

namespace {

std::string request_lines() {
  std::string text;
  for (int i = 0; i < 10000; ++i)
    text += fmt::format(
        "{{\"id\":\"r{0}\",\"arrival_s\":{1:.3f},\"prompt\":[[\"common\",48],[\"p{0}\",{2}]],"
        "\"output_tokens\":{3}}}\n",
        i, 0.125 * i, 100 + i % 900, 16 + i % 200);
  return text;
}

void read_request_list(benchmark::State& state) {
  const std::string text = request_lines();
  for (auto _ : state) {
    const auto source = workload::open_trace_text(text, "kvsim", "lines");
    workload::RequestSpec request;
    while (source->next(request)) benchmark::DoNotOptimize(request.prompt_tokens);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_request_list)->Unit(benchmark::kMillisecond);

void yardstick_read_request_list(benchmark::State& state) {
  const std::string text = request_lines();
  for (auto _ : state) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      benchmark::DoNotOptimize(nlohmann::json::parse(line));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(yardstick_read_request_list)->Unit(benchmark::kMillisecond);

}  // namespace
