#include "workload/trace/options.h"

#include <algorithm>
#include <cmath>

namespace kvsim::workload {

void fields(config::FieldVisitor& v, TraceOptions& o) {
  using namespace config;
  v.field({"file", "trace to replay, relative to this file; \"-\" is standard input", "", true},
          o.file);
  v.field({"format", "a trace format (docs/reference/policies.md); auto goes by the first record"},
          o.format);
  v.field({"max_requests", "take the first so many; all if not given"}, o.slice.max_requests,
          at_least(1));
  v.field({"rate_scale", "2 = arrivals twice as fast"}, o.slice.rate_scale, above_up_to(0, 1e6));
  v.field({"start_s", "leave out requests that arrive earlier, and count time from here"},
          o.slice.start, between(0, 1e9));
  v.field({"end_s", "leave out requests that arrive at this time or later"}, o.slice.end,
          between(0, 1e9));
  v.field({"block_tokens", "mooncake: tokens that one hash id stands for; 512 if not given"},
          o.block_tokens, between(1, 1e6));
}

Time sliced_time(const Slice& slice, Time arrival) {
  const std::int64_t ns = std::max<std::int64_t>(arrival.nanoseconds() - slice.start.value(), 0);
  if (slice.rate_scale == 1) return Time(ns);
  return Time(std::llround(static_cast<double>(ns) / slice.rate_scale));
}

}  // namespace kvsim::workload
