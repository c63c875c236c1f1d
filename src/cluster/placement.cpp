#include "cluster/placement.h"

#include <algorithm>

#include "cluster/routers/routers.h"
#include "diag/check.h"

namespace kvsim::cluster {

Placement::Placement(std::unique_ptr<Router> router, std::vector<Replica> replicas)
    : router_(std::move(router)),
      together_(replicas.size()),
      interval_(router_->report_interval()) {
  for (const Replica& replica : replicas) {
    KVSIM_CHECK(replica.first == loads_.size() && replica.ranks > 0,
                "replicas do not follow each other at engine {}", loads_.size());
    replica_of_.resize(replica.first + replica.ranks, static_cast<std::uint32_t>(replicas_.size()));
    loads_.resize(replica.first + replica.ranks);
    Ranks ranks{replica, nullptr};
    if (replica.ranks > 1) {
      ranks.balancer = make_vllm_dp();
      interval_ = ranks.balancer->report_interval();
    }
    replicas_.push_back(std::move(ranks));
  }
  reports_.resize(loads_.size());
  if (interval_.value() > 0) next_copy_ = Time(0) + interval_;
}

std::uint32_t Placement::choose(const workload::RequestSpec& request) {
  const Ranks& ranks = replicas_[router_->choose(request, together_)];
  const Replica& replica = ranks.replica;
  if (!ranks.balancer) return replica.first;
  return replica.first + static_cast<std::uint32_t>(ranks.balancer->choose(
                             request, std::span(loads_).subspan(replica.first, replica.ranks)));
}

void Placement::sent(std::uint32_t engine, std::int64_t prompt_tokens, std::int64_t queued) {
  add_tokens(engine, prompt_tokens);
  set_queued(engine, queued);
}

void Placement::ended(std::uint32_t engine, std::int64_t prompt_tokens) {
  add_tokens(engine, -prompt_tokens);
}

void Placement::stepped(std::uint32_t engine, std::int64_t queued,
                        const engine::EngineReport& report) {
  set_queued(engine, queued);
  reports_[engine] = report;
}

void Placement::set_queued(std::uint32_t engine, std::int64_t queued) {
  together_[replica_of_[engine]].requests += queued - loads_[engine].requests;
  loads_[engine].requests = queued;
}

void Placement::add_tokens(std::uint32_t engine, std::int64_t tokens) {
  together_[replica_of_[engine]].outstanding_tokens += tokens;
  loads_[engine].outstanding_tokens += tokens;
}

// Nothing changes between events, so the state before the first event at or after a multiple of the
// interval is the state there.
void Placement::copy_reports(Time now) {
  const std::int64_t step = interval_.value();
  next_copy_ = Time((now.nanoseconds() / step + 1) * step);
  for (std::size_t i = 0; i < loads_.size(); ++i) loads_[i].report = reports_[i];
  for (std::size_t r = 0; r < replicas_.size(); ++r) {
    engine::EngineReport sum;
    const Replica& replica = replicas_[r].replica;
    for (std::uint32_t rank = 0; rank < replica.ranks; ++rank) {
      const engine::EngineReport& one = reports_[replica.first + rank];
      sum.waiting += one.waiting, sum.running += one.running;
      sum.kv_usage += one.kv_usage / replica.ranks;
    }
    together_[r].report = sum;
  }
}

}  // namespace kvsim::cluster
