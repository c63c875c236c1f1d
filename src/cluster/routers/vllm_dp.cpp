#include "cluster/routers/vllm_dp.h"

#include <algorithm>

#include "cluster/routers/routers.h"

namespace kvsim::cluster {
namespace {

// One front end before all ranks, so that it knows every request in flight. The scan for the lowest
// score starts one engine further with each request; the first of equal ones is taken.
class VllmDp final : public Router {
 public:
  std::size_t choose(const workload::RequestSpec&, std::span<const EngineLoad> loads) override {
    const std::size_t start = start_++ % loads.size();
    std::size_t best = start;
    double least = vllm_dp_score(loads[start]);
    for (std::size_t i = 1; i < loads.size(); ++i) {
      const std::size_t candidate = (start + i) % loads.size();
      const double score = vllm_dp_score(loads[candidate]);
      if (score < least) best = candidate, least = score;
    }
    return best;
  }
  Duration report_interval() const override { return Duration(ns_per_second / 10); }

 private:
  std::size_t start_ = 0;
};

}  // namespace

double vllm_dp_score(const EngineLoad& load, int clients) {
  const engine::EngineReport& r = load.report;
  const auto score = static_cast<double>(std::max(clients * load.requests, r.waiting + r.running));
  if (r.waiting == 0) return score;
  return score + static_cast<double>(r.waiting) * 6 * std::max(0.0, r.kv_usage - 0.5);
}

std::unique_ptr<Router> make_vllm_dp() { return std::make_unique<VllmDp>(); }

}  // namespace kvsim::cluster
