#include "cluster/routers/routers.h"

namespace kvsim::cluster {
namespace {

// The engine with the smallest load; ties go to the one after the last choice, so that an idle
// cluster is filled in turn.
class LeastLoaded final : public Router {
 public:
  explicit LeastLoaded(std::int64_t EngineLoad::*measure) : measure_(measure) {}

  std::size_t choose(const workload::RequestSpec&, std::span<const EngineLoad> loads) override {
    std::size_t best = (last_ + 1) % loads.size();
    for (std::size_t i = 1; i < loads.size(); ++i) {
      const std::size_t candidate = (last_ + 1 + i) % loads.size();
      if (loads[candidate].*measure_ < loads[best].*measure_) best = candidate;
    }
    return last_ = best;
  }

 private:
  std::int64_t EngineLoad::*measure_;
  std::size_t last_ = static_cast<std::size_t>(-1);
};

}  // namespace

std::unique_ptr<Router> make_least_requests() {
  return std::make_unique<LeastLoaded>(&EngineLoad::requests);
}
std::unique_ptr<Router> make_least_tokens() {
  return std::make_unique<LeastLoaded>(&EngineLoad::outstanding_tokens);
}

}  // namespace kvsim::cluster
