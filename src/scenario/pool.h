#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "engine/profile.h"
#include "scenario/load.h"

namespace kvsim::scenario {

// Reports a problem of the engine field `field`.
using FieldError = std::function<void(const std::string& field, std::string code,
                                      std::string message, std::string hint)>;

// Fills everything that an engine's config leaves open, by the rules of its engine version: limits
// by GPU, KV dtype, memory ledger, block count. Problems go to `error`.
void resolve_pool(ResolvedPool& pool, std::vector<std::string>& warnings, const FieldError& error);

// What the scheduler works with.
engine::SchedulerLimits limits(const ResolvedPool& pool);
// Seconds to bring the KV of one token from the host over PCIe, all layers of a GPU; 0 with a
// constant cost.
double host_token_seconds(const ResolvedPool& pool);
// From a request's arrival to the scheduler's queue, by the host constants of the engine.
Duration request_delay(const ResolvedPool& pool);
// Step times of the pool's engines.
std::shared_ptr<const cost::CostModel> cost_model(const ResolvedPool& pool);

}  // namespace kvsim::scenario
