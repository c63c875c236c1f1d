#include "calibrate/serving/host_fit.h"

#include <cmath>
#include <vector>

#include "calibrate/fit/least_squares.h"

namespace kvsim::calibrate {
namespace {

constexpr double ttft_weight = 0.5;  // beside TPOT: it hangs on queues that the closed form rounds
constexpr double ms = 1000;
// Bounds: logarithms of the scales, the request time in 10 ms.
constexpr double most_scale = 0.7, most_prefill_scale = 0.9, most_request = 30;
// A mean TTFT this many times what the kernels take is a cold start, no constant of the engine.
constexpr double cold_start = 10;

bool counts_ttft(const ServedRun& r) {
  return r.ttft > 0 && r.ttft < cold_start * closed_loop(r.point, r.habits, {}).ttft;
}

// x holds milliseconds and logarithms of scales, all of the order of one.
cost::HostProfile profile_of(std::span<const double> x, HostTerms terms) {
  cost::HostProfile h;
  if (terms == HostTerms::steps) {
    h.step_us = ms * x[0], h.sequence_us = 0.1 * ms * x[1];
    h.prefill_us = 10 * ms * x[2], h.request_us = 10 * ms * x[3];
  } else if (terms == HostTerms::scales) {
    h.decode_scale = std::exp(x[0]), h.sequence_us = 0.1 * ms * x[1];
    h.prefill_scale = std::exp(x[2]), h.request_us = 10 * ms * x[3];
  }
  return h;
}

Minimum solve(std::span<const ServedRun> runs, HostTerms terms) {
  LeastSquares p;
  p.rows = 2 * runs.size();
  p.scale = 0.05;
  const bool scales = terms == HostTerms::scales;
  p.low = {scales ? -most_scale : 0, 0, scales ? -most_scale : 0, 0};
  p.high = {scales ? most_scale : 10, 2, scales ? most_prefill_scale : 20, most_request};
  std::vector<char> ttft;
  for (const ServedRun& r : runs) ttft.push_back(counts_ttft(r));
  p.residuals = [runs, terms, ttft](std::span<const double> x, std::span<double> out) {
    const cost::HostProfile h = profile_of(x, terms);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const ServedRun& r = runs[i];
      const LoopFigures f = closed_loop(r.point, r.habits, h);
      out[2 * i] = r.tpot > 0 ? std::log(f.tpot / r.tpot) : 0;
      out[2 * i + 1] = ttft[i] ? ttft_weight * std::log(f.ttft / r.ttft) : 0;
    }
  };
  return minimise(p, {scales ? 0 : 0.3, 0.1, scales ? 0.1 : 4, 0.5});
}

double loss_on(std::span<const ServedRun> runs, const cost::HostProfile& h) {
  double sum = 0;
  for (const ServedRun& r : runs) {
    const LoopFigures f = closed_loop(r.point, r.habits, h);
    if (r.tpot > 0) sum += std::min(0.5, std::abs(std::log(f.tpot / r.tpot)));
    if (counts_ttft(r)) sum += ttft_weight * std::min(1.0, std::abs(std::log(f.ttft / r.ttft)));
  }
  return sum / static_cast<double>(runs.size());
}

}  // namespace

HostFit fit_host(std::span<const ServedRun> runs) {
  HostFit best;
  if (runs.size() < 2) return best;
  for (const HostTerms terms : {HostTerms::steps, HostTerms::scales}) {
    // Two-fold: each half predicts the other.
    std::vector<ServedRun> even, odd;
    for (std::size_t i = 0; i < runs.size(); ++i) (i % 2 ? odd : even).push_back(runs[i]);
    double loss = 0;
    for (const auto& [from, to] : {std::pair(&even, &odd), std::pair(&odd, &even)})
      loss += loss_on(*to, profile_of(solve(*from, terms).x, terms)) / 2;
    if (best.terms != HostTerms::none && loss >= 0.97 * best.loss) continue;
    const std::vector<double> x = solve(runs, terms).x;
    best = {profile_of(x, terms), terms, loss, false};
    const bool scales = terms == HostTerms::scales;
    best.on_bound =
        x[3] >= most_request || (scales && (std::abs(x[0]) >= most_scale || x[2] <= -most_scale ||
                                            x[2] >= most_prefill_scale));
  }
  return best;
}

}  // namespace kvsim::calibrate
