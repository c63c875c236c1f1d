#include "calibrate/serving/host_fit.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

// A run on an engine whose steps take what a memory-bound model's would, in microseconds.
ServedRun planted(double clients, double prompt, double output, const cost::HostProfile& host) {
  ServedRun r;
  r.framework = "vllm";
  WorkingPoint& w = r.point;
  w.prompt = prompt, w.output = output, w.in_flight = w.running = clients;
  w.decode = 5000 + clients * 15, w.decode_less = w.decode - 15;
  w.chunk = 3000 + 20 * prompt, w.mixed = w.decode_less + 18 * prompt;
  w.first_wave_prompts = std::max(1.0, std::min(clients, std::floor(8192 / prompt)));
  w.first_wave_steps = std::ceil(clients / w.first_wave_prompts);
  w.first_wave = 5000 + 20 * prompt * w.first_wave_prompts;
  const LoopFigures f = closed_loop(w, r.habits, host);
  r.ttft = f.ttft, r.tpot = f.tpot;
  return r;
}

std::vector<ServedRun> grid(const cost::HostProfile& host) {
  std::vector<ServedRun> runs;
  for (const double prompt : {200., 1000., 4000.})
    for (const double output : {200., 1000.})
      for (const double clients : {1., 4., 16., 64., 128.})
        runs.push_back(planted(clients, prompt, output, host));
  return runs;
}

}  // namespace

TEST_CASE("A fit recovers planted host times") {
  cost::HostProfile host;
  host.step_us = 700, host.sequence_us = 12, host.prefill_us = 60'000, host.request_us = 25'000;
  const HostFit fit = fit_host(grid(host));
  CHECK(fit.terms == HostTerms::steps);
  CHECK(fit.profile.step_us == doctest::Approx(700).epsilon(0.02));
  CHECK(fit.profile.sequence_us == doctest::Approx(12).epsilon(0.02));
  CHECK(fit.profile.prefill_us == doctest::Approx(60'000).epsilon(0.02));
  CHECK(fit.profile.request_us == doctest::Approx(25'000).epsilon(0.02));
  CHECK(fit.profile.decode_scale == 1);
  CHECK(fit.loss < 0.01);
}

TEST_CASE("A fit recovers planted scales where kernels are off by a factor") {
  cost::HostProfile host;
  host.decode_scale = 1.25, host.prefill_scale = 1.6;
  host.sequence_us = 10, host.request_us = 15'000;
  const HostFit fit = fit_host(grid(host));
  CHECK(fit.terms == HostTerms::scales);
  CHECK(fit.profile.decode_scale == doctest::Approx(1.25).epsilon(0.02));
  CHECK(fit.profile.prefill_scale == doctest::Approx(1.6).epsilon(0.02));
  CHECK(fit.profile.sequence_us == doctest::Approx(10).epsilon(0.1));
  CHECK(fit.profile.request_us == doctest::Approx(15'000).epsilon(0.05));
  CHECK(fit.profile.step_us == 0);
}

TEST_CASE("A few wild runs and cold starts move the constants little") {
  cost::HostProfile host;
  host.step_us = 700, host.sequence_us = 12, host.prefill_us = 60'000, host.request_us = 25'000;
  std::vector<ServedRun> runs = grid(host);
  runs[3].tpot *= 2, runs[17].tpot *= 3;
  for (const std::size_t i : {0U, 10U, 20U}) runs[i].ttft = 60;
  const HostFit fit = fit_host(runs);
  CHECK(fit.profile.step_us == doctest::Approx(700).epsilon(0.1));
  CHECK(fit.profile.sequence_us == doctest::Approx(12).epsilon(0.1));
  CHECK(fit.profile.request_us == doctest::Approx(25'000).epsilon(0.2));
}

TEST_CASE("Fewer than two runs fit nothing") {
  const std::vector<ServedRun> runs = grid({});
  for (const std::size_t n : {0U, 1U}) {
    const HostFit fit = fit_host(std::span(runs).first(n));
    CHECK(fit.terms == HostTerms::none);
    CHECK(fit.profile.step_us == 0);
    CHECK(fit.profile.decode_scale == 1);
    CHECK(fit.profile.request_us == 0);
  }
}
