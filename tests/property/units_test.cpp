#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "property/pinned.h"
#include "units/format.h"
#include "units/parse.h"

using namespace kvsim;

namespace {

// Values of every magnitude.
std::int64_t wide(int most_bits) {
  const int bits = *rc::gen::inRange(0, most_bits);
  return *rc::gen::inRange<std::int64_t>(std::int64_t{1} << bits, (std::int64_t{1} << bits) * 2);
}

}  // namespace

TEST_CASE("INV-1 quantities in base units are read back exactly") {
  KVSIM_PROPERTY("bytes", [] {
    const std::int64_t n = wide(62);
    RC_ASSERT(parse_bytes(std::to_string(n)).value().value() == n);
  });
  KVSIM_PROPERTY("binary prefixes", [] {
    const std::int64_t n = wide(30);
    RC_ASSERT(parse_bytes(fmt::format("{}GiB", n)).value().value() == n * gib);
    RC_ASSERT(parse_bytes(fmt::format("{} MiB", n)).value().value() == n * mib);
    RC_ASSERT(parse_bytes(fmt::format("{}KiB", n)).value().value() == n * kib);
  });
  KVSIM_PROPERTY("durations", [] {
    const std::int64_t n = wide(49);
    RC_ASSERT(parse_duration(fmt::format("{}ns", n)).value().value() == n);
    RC_ASSERT(parse_duration(fmt::format("{}us", n / 1000)).value().value() == n / 1000 * 1000);
  });
}

TEST_CASE("INV-2 what is printed for people is within half a percent of what is meant") {
  KVSIM_PROPERTY("bytes", [] {
    const std::int64_t n = wide(55);
    for (const std::string& text : {format_bytes(Bytes(n)), format_bytes_decimal(Bytes(n))}) {
      const auto again = parse_bytes(text);
      RC_ASSERT(again.has_value());
      RC_ASSERT(std::abs(static_cast<double>(again->value() - n)) <=
                0.00501 * static_cast<double>(n));
    }
  });
  KVSIM_PROPERTY("durations under two minutes", [] {
    const std::int64_t n = wide(36);
    const auto again = parse_duration(format_duration(Duration(n)));
    RC_ASSERT(again.has_value());
    RC_ASSERT(std::abs(static_cast<double>(again->value() - n)) <=
              0.00501 * static_cast<double>(n));
  });
  KVSIM_PROPERTY("bandwidths", [] {
    const double rate =
        std::ldexp(1.0 + *rc::gen::inRange(0, 1000) / 1000.0, *rc::gen::inRange(0, 45));
    const auto again = parse_bandwidth(format_bandwidth(Bandwidth(rate)));
    RC_ASSERT(again.has_value());
    // Below a thousand whole bytes per second are printed.
    RC_ASSERT(std::abs(again->value() - rate) <= 0.00501 * rate + (rate < 1000 ? 0.5 : 0));
  });
}

TEST_CASE("INV-3 larger quantities never print as smaller ones") {
  KVSIM_PROPERTY("bytes", [] {
    const std::int64_t a = wide(55), b = wide(55);
    const auto printed = [](std::int64_t n) {
      return parse_bytes(format_bytes(Bytes(n))).value().value();
    };
    RC_ASSERT(printed(std::min(a, b)) <= printed(std::max(a, b)));
  });
}
