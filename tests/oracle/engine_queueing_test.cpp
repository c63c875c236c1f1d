#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cost/step_fill.h"
#include "oracle/single_server.h"
#include "scenario/pool.h"
#include "support/simulate.h"

// The whole simulator against queueing theory and against sums of step times.

using namespace kvsim;
using namespace kvsim::testing;

namespace {

// One place, every step 0.1 s, one output token: a request is one step.
metrics::RunResult single_server(double rate, std::int64_t requests, int seed) {
  return simulate_text(fmt::format(
      R"({{"schema": "kvsim.scenario/1", "name": "M/D/1", "model": "llama-3.1-8b", "seed": {},
          "workload": {{"generate": {{"kind": "independent", "requests": {},
            "arrival": {{"process": "poisson", "rate": {}}},
            "input": {{"value": 16}}, "output": {{"value": 1}}}}}},
          "cluster": {{"pools": [{{"engine": {{"gpu": "h100-sxm", "max_num_seqs": 1,
            "cost": {{"kind": "constant", "step": "100ms"}}}}}}]}}}})",
      seed, requests, rate));
}

}  // namespace

TEST_CASE("a one-place engine with constant steps equals the recursion to the nanosecond") {
  auto rows = single_server(8, 200000, 1).requests;
  REQUIRE(rows.size() == 200000);
  std::ranges::sort(rows, {}, &metrics::RequestRow::index);
  std::vector<Time> arrivals;
  for (const auto& row : rows) arrivals.push_back(row.arrival);
  CHECK(std::ranges::is_sorted(arrivals));
  const std::vector<Duration> service(rows.size(), Duration{100'000'000});
  const std::vector<Time> starts = service_starts(arrivals, service);
  std::size_t equal = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    equal += rows[i].first_scheduled == starts[i] && rows[i].end == starts[i] + service[i] &&
             rows[i].first_token == rows[i].end;
  CHECK(equal == rows.size());
}

TEST_CASE("mean TTFT of a one-place engine agrees with the M-D-1 formula") {
  for (const double rate : {5.0, 8.0}) {
    std::vector<double> means;
    for (int seed = 1; seed <= 12; ++seed)
      means.push_back(single_server(rate, 10000, seed).summary.ttft_ms.mean / 1000);
    const MeanAndError found = mean_and_error(means);
    CAPTURE(rate);
    CAPTURE(found.mean);
    CHECK(found.standard_error < 0.05 * found.mean);
    CHECK(std::fabs(found.mean - md1_seconds(rate, 0.1)) < 3 * found.standard_error);
  }
}

TEST_CASE("a request alone takes exactly the sum of its step times") {
  constexpr std::int64_t prompt = 1300, output = 40, budget = 512;
  const std::string text = fmt::format(
      R"({{"schema": "kvsim.scenario/1", "name": "alone", "model": "llama-3.1-70b",
          "workload": {{"generate": {{"kind": "independent", "requests": 1,
            "arrival": {{"process": "constant", "rate": 1}},
            "input": {{"value": {}}}, "output": {{"value": {}}}}}}},
          "cluster": {{"pools": [{{"engine": {{"gpu": "h100-sxm", "tensor_parallel_size": 4,
            "max_num_batched_tokens": {}}}}}]}}}})",
      prompt, output, budget);
  const scenario::Resolved resolved = resolve_text(text);
  const auto& pool = resolved.pools.at(0);
  const auto cost = scenario::cost_model(pool);
  const cost::StepFill fill(pool.model);

  // Before the first step the request is on its way to the scheduler.
  Duration expected = scenario::request_delay(pool);
  for (std::int64_t done = 0; done < prompt; done += budget) {
    const std::int64_t chunk = std::min(budget, prompt - done);
    cost::StepShape shape;
    fill.add_chunk(shape, done, chunk, done + chunk == prompt ? 1 : 0);
    expected += to_duration(cost->step_seconds(shape));
  }
  const Duration first_token = expected;
  for (std::int64_t context = prompt; context < prompt + output - 1; ++context) {
    cost::StepShape shape;
    fill.add_decode(shape, context);
    expected += to_duration(cost->step_seconds(shape));
  }

  const auto rows = simulate_text(text).requests;
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].arrival == Time{0});
  CHECK(rows[0].first_token == Time{0} + first_token);
  CHECK(rows[0].end == Time{0} + expected);
  CHECK(rows[0].output_tokens == output);
}
