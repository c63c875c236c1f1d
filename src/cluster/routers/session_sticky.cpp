#include <unordered_map>

#include "cluster/routers/routers.h"

namespace kvsim::cluster {
namespace {

// Requests of one session go where its first one went; a request without a session, and the first
// of each, go to the engine with the fewest requests.
class SessionSticky final : public Router {
 public:
  std::size_t choose(const workload::RequestSpec& request,
                     std::span<const EngineLoad> loads) override {
    if (request.session.empty()) return fallback_->choose(request, loads);
    const auto [home, fresh] = homes_.try_emplace(request.session, 0);
    if (fresh) home->second = fallback_->choose(request, loads);
    return home->second;
  }

 private:
  std::unique_ptr<Router> fallback_ = make_least_requests();
  std::unordered_map<std::string, std::size_t> homes_;
};

}  // namespace

std::unique_ptr<Router> make_session_sticky() { return std::make_unique<SessionSticky>(); }

}  // namespace kvsim::cluster
