#pragma once
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>

#include "engine/engine.h"
#include "metrics/result.h"
#include "scenario/load.h"
#include "workload/source.h"

namespace kvsim::scenario {

struct RunOptions {
  engine::StepSink* steps = nullptr;  // receives every engine step
  bool keep_requests = false;         // RunResult::requests
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::int64_t requests_ended, std::int64_t requests_expected, Time now)>
      progress;
  // Makes other step times from a pool's own, which outlive them; empty: its own are used.
  std::function<std::unique_ptr<cost::CostModel>(const cost::CostModel&)> with_cost;
};

// Builds the cluster of a scenario, runs it to the end and answers its result document.
metrics::RunResult run(const Resolved& scenario, const RunOptions& options = {});
// The same with requests from elsewhere than the scenario's workload (recorded ones).
metrics::RunResult run(const Resolved& scenario, workload::RequestSource& source,
                       const RunOptions& options = {});

}  // namespace kvsim::scenario
