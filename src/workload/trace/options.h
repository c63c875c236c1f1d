#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "config/fields.h"
#include "units/units.h"

namespace kvsim::workload {

// Which part of a trace to play, and how fast. Applied in this order: the window in the trace's own
// time, then `max_requests`, then the rate. Times are counted from the start of the window, so a
// window brings no idle time. A request that follows another stays in exactly if that one does;
// its pause is people's time and is not scaled.
struct Slice {
  Duration start{};
  std::optional<Duration> end;
  std::optional<std::int64_t> max_requests;
  double rate_scale = 1;
  bool is_everything() const {
    return start.value() == 0 && !end && !max_requests && rate_scale == 1;
  }
};
// When a request that arrives at `arrival` in the trace's own time arrives in the slice; 0 for a
// follower whose earliest arrival lies before the window.
Time sliced_time(const Slice& slice, Time arrival);

// The scenario block `workload.trace`.
struct TraceOptions {
  std::string file;             // relative to the scenario's folder; "-" is standard input
  std::string format = "auto";  // a name of trace_formats()
  Slice slice;
  std::optional<std::int64_t> block_tokens;  // Mooncake: tokens per hash id, 512 if not given
};
void fields(config::FieldVisitor& v, TraceOptions& options);

}  // namespace kvsim::workload
