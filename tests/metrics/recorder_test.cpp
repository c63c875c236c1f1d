#include "metrics/recorder.h"

#include <doctest/doctest.h>

#include <cmath>

#include "metrics/verdict.h"

using namespace kvsim;
using namespace kvsim::metrics;

namespace {

Time at(double s) { return Time(to_duration(s).value()); }

RequestRecord request(std::int64_t index, double arrival, double first, double end,
                      std::int64_t output) {
  RequestRecord r;
  r.index = index;
  r.id = "r";
  r.prompt_tokens = 10;
  r.output_tokens = output;
  r.arrival = at(arrival);
  r.first_scheduled = at(arrival);
  r.first_token = at(first);
  r.end = at(end);
  return r;
}

RunResult finish(Recorder& recorder, double now) {
  RunResult result;
  result.engines.resize(1);
  recorder.finish(result, at(now));
  return result;
}

}  // namespace

TEST_CASE("KV-28 - one request with four chunks and one with a single token") {
  Recorder recorder({});
  CHECK(recorder.arrived(0, at(10)));
  recorder.gap(to_duration(0.04), 1);
  recorder.gap(to_duration(0.04), 1);
  recorder.gap(to_duration(0.12), 1);
  recorder.request_finished(request(0, 10, 10.5, 10.7, 4));
  const RunResult result = finish(recorder, 10.7);
  const Summary& s = result.summary;
  CHECK(s.ttft_ms.mean == doctest::Approx(500));
  CHECK(s.tpot_ms.mean == doctest::Approx(66.6667).epsilon(1e-6));
  CHECK(s.e2el_ms.mean == doctest::Approx(700));
  CHECK(s.itl_ms.mean == doctest::Approx(200.0 / 3));
  CHECK(s.itl_ms.median == doctest::Approx(40));
  CHECK(s.itl_ms.percentiles.at(3) == doctest::Approx(40 + 80 * 0.98));
  CHECK_FALSE(s.request_goodput.has_value());
}

TEST_CASE("KV-28 - a request of one token adds nothing to TPOT and counts as TPOT 0 for goodput") {
  RecorderOptions options;
  options.slo.ttft_ms = 2000;
  options.slo.tpot_ms = 500;
  Recorder recorder(options);
  recorder.arrived(0, at(0));
  recorder.arrived(1, at(0.25));
  recorder.gap(to_duration(1), 1);
  RequestRecord one = request(1, 0.25, 2, 2, 1);
  one.prompt_tokens = 20;
  recorder.request_finished(one);
  recorder.gap(to_duration(1), 1);
  recorder.gap(to_duration(1), 1);
  recorder.request_finished(request(0, 0, 1, 4, 4));
  const Summary s = finish(recorder, 4).summary;
  CHECK(s.completed == 2);
  CHECK(s.duration == 4);
  CHECK(s.total_input_tokens == 30);
  CHECK(s.total_output_tokens == 5);
  CHECK(s.request_throughput == 0.5);
  CHECK(s.output_throughput == 1.25);
  CHECK(s.total_token_throughput == 8.75);
  CHECK(s.ttft_ms.mean == 1375);
  CHECK(s.ttft_ms.median == 1375);
  CHECK(s.ttft_ms.std == 375);
  CHECK(s.ttft_ms.percentiles.at(1) == doctest::Approx(1675));
  CHECK(s.ttft_ms.percentiles.at(3) == doctest::Approx(1742.5));
  CHECK(s.tpot_ms.mean == 1000);
  CHECK(s.tpot_ms.std == 0);
  CHECK(s.itl_ms.mean == 1000);
  CHECK(s.e2el_ms.mean == 2875);
  CHECK(s.request_goodput == 0.25);
  CHECK(s.offered_rate == 4);
}

TEST_CASE("an empty run is all zeros") {
  Recorder recorder({});
  const Summary s = finish(recorder, 0).summary;
  CHECK(s.completed == 0);
  CHECK(s.duration == 0);
  CHECK(s.request_throughput == 0);
  CHECK(s.ttft_ms.mean == 0);
  CHECK_FALSE(s.offered_rate.has_value());
}

TEST_CASE("a warm-up by count excludes requests and what came before them") {
  RecorderOptions options;
  options.warmup_requests = 1;
  options.engine_blocks = {10};
  Recorder recorder(options);
  CHECK_FALSE(recorder.arrived(0, at(0)));
  recorder.engine_state(0, at(0), 8, 1, 0);
  recorder.evicted(0, at(1), 5);
  recorder.engine_state(0, at(2), 2, 1, 0);
  CHECK(recorder.arrived(1, at(4)));
  recorder.evicted(0, at(5), 3);
  recorder.request_finished(request(0, 0, 1, 6, 9));
  recorder.request_finished(request(1, 4, 5, 8, 4));
  const RunResult result = finish(recorder, 8);
  CHECK(result.summary.completed == 1);
  CHECK(result.summary.duration == 4);
  CHECK(result.summary.total_output_tokens == 4);
  CHECK(result.summary.output_throughput == 1);
  CHECK(result.kv.evicted_blocks == 3);
  CHECK(result.kv.peak_used_ratio == doctest::Approx(0.2));
  CHECK(result.kv.mean_used_ratio == doctest::Approx(0.2));
  CHECK(result.engines[0].mean_running == doctest::Approx(1));
}

TEST_CASE("a warm-up by time excludes the requests that arrive before it ends") {
  RecorderOptions options;
  options.warmup = to_duration(3);
  Recorder recorder(options);
  CHECK_FALSE(recorder.arrived(0, at(2.999)));
  CHECK(recorder.arrived(1, at(3)));
}

TEST_CASE("tokens and concurrency are counted per second from the first arrival") {
  Recorder recorder({});
  recorder.arrived(0, at(0.5));
  recorder.arrived(1, at(1.4));
  recorder.output_tokens(at(1.4), 3);                        // second 0
  recorder.output_tokens(at(1.5), 4);                        // second 1
  recorder.output_tokens(at(2.49), 5);                       // second 1
  recorder.request_finished(request(0, 0.5, 1.4, 1.49, 3));  // seconds 0 to 0
  recorder.request_finished(request(1, 1.4, 1.5, 2.5, 9));   // seconds 0 to 2
  const Summary s = finish(recorder, 2.5).summary;
  CHECK(s.max_output_tokens_per_s == 9);
  CHECK(s.max_concurrent_requests == 2);
}

TEST_CASE("failed requests are counted and named") {
  Recorder recorder({});
  recorder.arrived(0, at(1));
  recorder.request_failed(0, "too-long", at(1), at(1), "needs 900 of 9 blocks");
  const RunResult result = finish(recorder, 1);
  CHECK(result.summary.failed == 1);
  CHECK(result.summary.completed == 0);
  REQUIRE(result.failures.size() == 1);
  CHECK(result.failures[0].id == "too-long");
}

TEST_CASE("prefix rates are over tokens and over full blocks") {
  Recorder recorder({});
  recorder.prefix_lookup(100, 0, 6, 0);
  recorder.prefix_lookup(100, 96, 6, 6);
  const KvSummary kv = finish(recorder, 1).kv;
  CHECK(kv.prefix_hit_rate_tokens == 0.48);
  CHECK(kv.prefix_hit_rate_blocks == 0.5);
}

TEST_CASE("cost is GPU hours of the run over its tokens") {
  RunResult result;
  result.engines.resize(2);
  result.engines[0].gpus = result.engines[1].gpus = 4;
  result.summary.duration = 1800;
  result.summary.total_output_tokens = 1'000'000;
  result.summary.total_input_tokens = 3'000'000;
  price(result, 2.5);
  CHECK(result.cost.gpu_hours == 4);
  CHECK(result.cost.usd_per_million_output_tokens == 10);
  CHECK(result.cost.usd_per_million_total_tokens == 2.5);
  CHECK_FALSE(result.cost.energy_wh.has_value());
  result.engines[0].mean_power_w = 300;
  price(result, {});
  CHECK_FALSE(result.cost.energy_wh.has_value());
  result.engines[1].mean_power_w = 500;
  price(result, {});
  CHECK(result.cost.energy_wh == 4 * 300 / 2 + 4 * 500 / 2);
  CHECK(result.cost.energy_wh_per_million_output_tokens == 1600);
}
