#pragma once
#include <optional>
#include <string>

#include "metrics/time_series.h"

namespace kvsim::metrics {

// Cluster-wide state over time: share of KV blocks held by requests, requests running, waiting.
enum Channel : std::size_t { kv_used, running, waiting, channel_count };
using StateSeries = TimeSeries<channel_count>;

// Whether arrivals outrun service, judged over the second half of the time in which requests
// arrive (the first half fills the batch). If they do, the queue grows for as long as the trace
// lasts, so an open-loop TTFT says how long the trace is and not how good the deployment is.
struct Overload {
  double arrival_rate = 0;        // requests per second
  double completion_rate = 0;     // arrival rate minus the growth of requests in the system
  double queue_growth_per_s = 0;  // least squares of waiting requests over time
  double waiting_at_last_arrival = 0;
  bool overloaded = false;
  std::string sentence;  // empty unless overloaded
};

// `arrivals` requests came from `first` to `last`. nullopt: too few (under 20) or all at once, so
// there is no rate to speak of.
//
// Overloaded: the mean number waiting rises from the second to the third and to the fourth quarter,
// and from the second to the fourth by at least 1 % of the arrivals of half the time and by three
// times the square root of them, which a stable queue's own fluctuation does not reach.
std::optional<Overload> assess_overload(const StateSeries& series, Time first, Time last,
                                        std::int64_t arrivals);

}  // namespace kvsim::metrics
