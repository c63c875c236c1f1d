#pragma once
#include <cstdint>

#include "units/units.h"

namespace kvsim::sim {

// Something that happens at a point of simulated time: plain data of 24 bytes.
//
// `kind` is a small number whose meaning belongs to the user of this room; of two events at the
// same time the lower kind comes first. `target` and `payload` are indices into tables of the user.
struct Event {
  Time time;
  std::uint64_t rank = 0;  // kind in the top 8 bits, sequence below: one comparison for both
  std::uint32_t target = 0;
  std::uint32_t payload = 0;

  static constexpr int sequence_bits = 56;
  constexpr std::uint8_t kind() const { return static_cast<std::uint8_t>(rank >> sequence_bits); }
  // The number of this event among all that its queue was ever given, from 0.
  constexpr std::uint64_t sequence() const {
    return rank & ((std::uint64_t{1} << sequence_bits) - 1);
  }
};
static_assert(sizeof(Event) == 24);

// The total order of events: (time, kind, sequence). No two events of one queue are equal in it.
constexpr bool before(const Event& a, const Event& b) {
  return a.time != b.time ? a.time < b.time : a.rank < b.rank;
}

}  // namespace kvsim::sim
