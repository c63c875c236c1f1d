#pragma once
#include <cmath>
#include <cstdint>

#include "units/quantity.h"

// The units every room speaks. Sizes are bytes and counts in int64; rates are double per second.
// Simulated time is int64 nanoseconds: a point (Time, since the start of the simulation) and a
// span (Duration). Cost models compute in double seconds; to_duration() is the only rounding.
namespace kvsim {

using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Tokens = Quantity<struct TokensTag, std::int64_t>;
using Blocks = Quantity<struct BlocksTag, std::int64_t>;
using Bandwidth = Quantity<struct BandwidthTag, double>;  // bytes per second
using FlopRate = Quantity<struct FlopRateTag, double>;    // floating point operations per second
using Duration = Quantity<struct DurationTag, std::int64_t>;  // nanoseconds

// A point in simulated time: points differ by a Duration, and do not add.
class Time {
 public:
  constexpr Time() = default;
  constexpr explicit Time(std::int64_t nanoseconds) : nanoseconds_(nanoseconds) {}
  constexpr std::int64_t nanoseconds() const { return nanoseconds_; }
  constexpr auto operator<=>(const Time&) const = default;
  friend constexpr Time operator+(Time t, Duration d) { return Time(t.nanoseconds_ + d.value()); }
  friend constexpr Duration operator-(Time a, Time b) {
    return Duration(a.nanoseconds_ - b.nanoseconds_);
  }

 private:
  std::int64_t nanoseconds_ = 0;
};

static_assert(sizeof(Time) == 8 && sizeof(Duration) == 8 && sizeof(Bytes) == 8);

inline constexpr std::int64_t ns_per_second = 1'000'000'000;
inline constexpr std::int64_t kib = 1024;
inline constexpr std::int64_t mib = kib * 1024;
inline constexpr std::int64_t gib = mib * 1024;

// Seconds to whole nanoseconds, nearest, ties away from zero.
inline Duration to_duration(double seconds) {
  return Duration(std::llround(seconds * static_cast<double>(ns_per_second)));
}
constexpr double to_seconds(Duration d) { return static_cast<double>(d.value()) / 1e9; }
constexpr double to_seconds(Time t) { return static_cast<double>(t.nanoseconds()) / 1e9; }
constexpr double to_ms(Duration d) { return static_cast<double>(d.value()) / 1e6; }
constexpr double to_gib(Bytes b) {
  return static_cast<double>(b.value()) / static_cast<double>(gib);
}

// Seconds that `size` takes at `rate`.
constexpr double transfer_seconds(Bytes size, Bandwidth rate) {
  return static_cast<double>(size.value()) / rate.value();
}

// Quotient of non-negative `a` and positive `b`, rounded up.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

}  // namespace kvsim
