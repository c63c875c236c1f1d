#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/source.h"

namespace kvsim::workload {

struct LengthSummary {
  double mean = 0, p50 = 0, p90 = 0, p99 = 0;  // percentiles by linear interpolation
  std::int64_t max = 0;
};
LengthSummary summarise(std::vector<std::int64_t> values);

struct InfoOptions {
  std::int64_t block_tokens = 16;
  // A request list: outputs enter the cache too, because later prompts may contain them, and
  // requests that follow others are placed as if answers took no time (without_followers).
  bool is_request_list = true;
  bool has_times = true;
  std::vector<std::int64_t> capacities;  // blocks; empty = a ladder up to where the curve is flat
  void (*tick)() = nullptr;              // called every few thousand requests; may throw to give up
};

// What a trace holds, from one pass over it.
//
// Reuse: of every prompt the leading blocks that an earlier request has put into one shared cache,
// whole prompts entering at arrival, in order of the list. `blocks` and `tokens` are over all
// blocks, partial last ones included; `full_blocks` over full ones alone (all that engines cache).
struct TraceInfo {
  std::int64_t requests = 0, followers = 0, sessions = 0;
  LengthSummary input, output;
  std::int64_t input_tokens = 0, output_tokens = 0;

  struct Arrivals {                                  // of requests that follow no other
    double span_s = 0, rate = 0;                     // rate = gaps / span
    double gap_cv = 0;                               // deviation / mean of the gaps
    double peak_1s = 0, peak_10s = 0, peak_60s = 0;  // requests per second, buckets from time 0
  };
  std::optional<Arrivals> arrivals;

  std::int64_t block_tokens = 0, blocks = 0, distinct_blocks = 0;
  struct Reuse {
    double blocks = 0, tokens = 0, full_blocks = 0;
  };
  Reuse reuse;  // unlimited cache
  struct Point {
    std::int64_t capacity_blocks = 0;
    double hit_rate = 0;  // leading blocks found / all blocks
  };
  std::vector<Point> curve;
  std::vector<std::string> notes;
};
TraceInfo trace_info(RequestSource& source, const InfoOptions& options);

}  // namespace kvsim::workload
