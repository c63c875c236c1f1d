#pragma once
#include <cstdint>

#include "metrics/result.h"
#include "scenario/load.h"
#include "scenario/run.h"

namespace kvsim::scenario {

enum class Ends {
  automatic,  // on, but for runs of more than IntervalOptions::most_requests
  on,
  off
};

struct IntervalOptions {
  Ends ends = Ends::automatic;
  int seeds = 1;  // simulate so many seeds in all, where the workload is random; off: one
  std::int64_t most_requests = 200'000;
  int threads = 0;  // simulations at a time; 0: one per processor, and two at least
};

// run(), with the interval of every figure of the summary (metrics/interval.h): the same traffic
// with all step times at the low and at the high end of their spread, and other seeds.
//
// `options` belong to the run as it is; the others run on further threads besides, share nothing
// with it that changes, and end when it is stopped. Step times that have no spread need no further
// run: the ends are the figures themselves. Where there are no ends, a warning says why, unless
// they were not wanted. The answer does not depend on which thread is faster.
metrics::RunResult run_with_intervals(const Resolved& scenario, const RunOptions& options,
                                      const IntervalOptions& intervals);

}  // namespace kvsim::scenario
