#pragma once
#include "engine/engine.h"
#include "metrics/result.h"

// Where an engine's busy time went, what that rests on, and how far it can be trusted.
namespace kvsim::scenario {

// Fills operators, shares by source, the share outside the calibrated range and the mean spread.
// Requires busy_s, constant_s and steps of `e`.
void add_provenance(metrics::EngineResult& e, const engine::Engine::Totals& totals);

// One warning per pool whose engines spend more than 5 % of their time on shapes that nobody
// measured.
void warn_outside(metrics::RunResult& result);

}  // namespace kvsim::scenario
