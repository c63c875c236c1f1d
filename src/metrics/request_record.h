#pragma once
#include <cstdint>
#include <string_view>

#include "units/units.h"

namespace kvsim::metrics {

// What happened to one finished request. Times are points of simulated time; token times are the
// ends of the steps that made them.
struct RequestRecord {
  std::int64_t index = 0;        // delivery order, from 0
  std::string_view id;           // valid during the call only
  std::string_view session;
  int pool = 0, engine = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t cached_tokens = 0;   // prefix tokens found at first admission
  std::int64_t preemptions = 0;
  Time arrival, first_scheduled, first_token, end;
};

}  // namespace kvsim::metrics
