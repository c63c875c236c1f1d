#pragma once
#include <cstdint>

namespace kvsim::engine {

// Where the slots of a KV pool are during one step, in tokens; what is in none of them is free.
struct KvUse {
  std::int64_t states = 0;    // hold the key and value of a token
  std::int64_t reserved = 0;  // will hold one before their request ends
  std::int64_t internal = 0;  // held for a request and never filled
  std::int64_t external = 0;  // lost between the reservations: rounding of their sizes
};

// Shares of a KV pool in the mean over time, weighted by the duration of steps. While a request
// waits for KV memory, what is free is of no use to it: external fragmentation. The parts are those
// of Kwon et al., SOSP 2023, figure 2.
class KvUseMeter {
 public:
  enum class Pressure { none, some };  // some: a request waits for KV memory, or was put back

  void add(const KvUse& use, std::int64_t pool_tokens, std::int64_t running, Pressure pressure,
           double seconds) {
    add_to(all_, use, pool_tokens, running, pressure, seconds);
    if (pressure == Pressure::some) add_to(pressed_, use, pool_tokens, running, pressure, seconds);
  }

  struct Shares {
    double seconds = 0;
    double states = 0, reserved = 0, internal = 0, external = 0, free = 0;
    double running = 0;  // requests
  };
  Shares all() const { return mean(all_); }
  Shares under_pressure() const { return mean(pressed_); }  // of 0 seconds where there was none

 private:
  static void add_to(Shares& sum, const KvUse& use, std::int64_t pool_tokens, std::int64_t running,
                     Pressure pressure, double seconds) {
    const double weight = seconds / static_cast<double>(pool_tokens);
    const double rest = weight * static_cast<double>(pool_tokens - use.states - use.reserved -
                                                     use.internal - use.external);
    sum.seconds += seconds;
    sum.states += weight * static_cast<double>(use.states);
    sum.reserved += weight * static_cast<double>(use.reserved);
    sum.internal += weight * static_cast<double>(use.internal);
    sum.external += weight * static_cast<double>(use.external);
    (pressure == Pressure::some ? sum.external : sum.free) += rest;
    sum.running += seconds * static_cast<double>(running);
  }
  static Shares mean(Shares s) {
    if (s.seconds <= 0) return {};
    for (double* part : {&s.states, &s.reserved, &s.internal, &s.external, &s.free, &s.running})
      *part /= s.seconds;
    return s;
  }
  Shares all_, pressed_;
};

}  // namespace kvsim::engine
