#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "cluster/replica.h"
#include "cluster/router.h"
#include "engine/engine.h"

namespace kvsim::cluster {

// Where an arriving request goes: the cluster's router chooses the replica, and in a replica of
// several data parallel ranks vLLM's internal load balancer the rank.
//
// Holds what routers may know. Counts of requests and tokens are those of the moment; what engines
// report of themselves is copied at multiples of the routers' interval, and what happens at that
// very instant comes after it. O(1) per call but for choose(), which costs what the routers cost,
// and the copies: O(engines) once per interval in which something happens, and only where a router
// reads them.
class Placement {
 public:
  Placement(std::unique_ptr<Router> router, std::vector<Replica> replicas);

  // To be called with the time of every event before its effects.
  void advance_to(Time now) {
    if (now >= next_copy_) copy_reports(now);
  }
  // The engine for a request.
  std::uint32_t choose(const workload::RequestSpec& request);

  // What happened to an engine since.
  void sent(std::uint32_t engine, std::int64_t prompt_tokens, std::int64_t queued);
  void ended(std::uint32_t engine, std::int64_t prompt_tokens);
  void stepped(std::uint32_t engine, std::int64_t queued, const engine::EngineReport& report);

 private:
  struct Ranks {
    Replica replica;
    std::unique_ptr<Router> balancer;  // of several ranks
  };
  void set_queued(std::uint32_t engine, std::int64_t queued);
  void add_tokens(std::uint32_t engine, std::int64_t tokens);
  void copy_reports(Time now);

  std::unique_ptr<Router> router_;
  std::vector<Ranks> replicas_;
  std::vector<std::uint32_t> replica_of_;      // engine -> replica
  std::vector<EngineLoad> loads_;              // of engines
  std::vector<EngineLoad> together_;           // of replicas: their ranks together
  std::vector<engine::EngineReport> reports_;  // the engines' latest
  Duration interval_{};
  Time next_copy_{std::numeric_limits<std::int64_t>::max()};
};

}  // namespace kvsim::cluster
