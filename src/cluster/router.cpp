#include "cluster/router.h"

#include <array>

#include "cluster/routers/routers.h"

namespace kvsim::cluster {
namespace {

constexpr std::array entries{
    RouterEntry{"round-robin", "each engine in turn", make_round_robin},
    RouterEntry{"least-requests", "the engine with the fewest waiting and running requests",
                make_least_requests},
    RouterEntry{"least-tokens", "the engine whose requests have the fewest prompt tokens together",
                make_least_tokens},
    RouterEntry{"session-sticky",
                "a session stays on the engine of its first request; others as least-requests",
                make_session_sticky},
    RouterEntry{"vllm-dp",
                "the lowest score of vLLM's internal load balancer: requests, and a full KV cache "
                "where some wait; what engines report is up to 100 ms old",
                make_vllm_dp},
};

}  // namespace

std::span<const RouterEntry> routers() { return entries; }

const RouterEntry* find_router(std::string_view name) {
  for (const RouterEntry& entry : entries)
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace kvsim::cluster
