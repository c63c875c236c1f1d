#pragma once
#include <optional>

#include "metrics/result.h"

namespace kvsim::metrics {

// Fills result.verdict: what binds and which lever to pull, from the counters of engines, kv and
// verdict.overload (call Recorder::finish() and fill the engines first). Looks at the busiest pool:
//
//   KV capacity       at least 5 % of its steps refused a request for want of blocks, more than
//                     for any other reason
//   scheduler limits  the same for max_num_seqs, or for max_num_batched_tokens unless most of the
//                     time is compute (then the budget is not what costs)
//   queueing          more requests wait than run although steps refuse few
//   else              where most of the time in steps went: compute, HBM bandwidth, link, launch
//                     floor, or "constant step" under a constant cost model
void judge(RunResult& result);

// Fills result.cost from the run's duration, its GPUs and their mean power. Without a price the
// dollars stay absent.
void price(RunResult& result, std::optional<double> gpu_hour_usd);

}  // namespace kvsim::metrics
