#pragma once
#include "units/units.h"

namespace kvsim::sim {

// The current point of simulated time. Starts at 0 and never goes back.
class Clock {
 public:
  Time now() const { return now_; }
  // Moves to `time`; false, and nothing changes, when that lies in the past.
  [[nodiscard]] bool advance_to(Time time) {
    if (time < now_) return false;
    now_ = time;
    return true;
  }

 private:
  Time now_;
};

}  // namespace kvsim::sim
