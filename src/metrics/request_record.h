#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "units/units.h"

namespace kvsim::metrics {

// What happened to one finished request. Times are points of simulated time; token times are the
// ends of the steps that made them.
struct RequestRecord {
  std::int64_t index = 0;  // delivery order, from 0
  std::string_view id;     // valid during the call only
  std::string_view session;
  int pool = 0, engine = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cached_tokens = 0;  // prefix tokens found at first admission
  std::int64_t preemptions = 0;
  Time arrival, first_scheduled, first_token, end;
  std::span<const Duration> gaps = {};  // between token events, only where detail was asked for
};

inline Duration ttft(const RequestRecord& r) { return r.first_token - r.arrival; }
inline Duration e2e(const RequestRecord& r) { return r.end - r.arrival; }
// Milliseconds per output token after the first; 0 for a request of one token.
inline double tpot_ms(const RequestRecord& r) {
  return r.output_tokens > 1
             ? to_ms(r.end - r.first_token) / static_cast<double>(r.output_tokens - 1)
             : 0.0;
}

}  // namespace kvsim::metrics
