#include "cluster/routers/routers.h"

namespace kvsim::cluster {
namespace {

class RoundRobin final : public Router {
 public:
  std::size_t choose(const workload::RequestSpec&, std::span<const EngineLoad> loads) override {
    return next_++ % loads.size();
  }

 private:
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Router> make_round_robin() { return std::make_unique<RoundRobin>(); }

}  // namespace kvsim::cluster
