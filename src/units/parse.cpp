#include "units/parse.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace kvsim {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array byte_units{Unit{"", 1},
                                Unit{"B", 1},
                                Unit{"kB", 1e3},
                                Unit{"KB", 1e3},
                                Unit{"MB", 1e6},
                                Unit{"GB", 1e9},
                                Unit{"TB", 1e12},
                                Unit{"KiB", 1024.0},
                                Unit{"MiB", 1048576.0},
                                Unit{"GiB", 1073741824.0},
                                Unit{"TiB", 1099511627776.0}};
constexpr std::array duration_units{Unit{"s", 1},     Unit{"", 1},      Unit{"ms", 1e-3},
                                    Unit{"us", 1e-6}, Unit{"ns", 1e-9}, Unit{"min", 60},
                                    Unit{"m", 60},    Unit{"h", 3600},  Unit{"d", 86400}};
constexpr std::array bandwidth_units{Unit{"", 1},
                                     Unit{"B/s", 1},
                                     Unit{"kB/s", 1e3},
                                     Unit{"MB/s", 1e6},
                                     Unit{"GB/s", 1e9},
                                     Unit{"TB/s", 1e12},
                                     Unit{"KiB/s", 1024.0},
                                     Unit{"MiB/s", 1048576.0},
                                     Unit{"GiB/s", 1073741824.0},
                                     Unit{"TiB/s", 1099511627776.0},
                                     Unit{"Mbit/s", 1e6 / 8},
                                     Unit{"Gbit/s", 1e9 / 8},
                                     Unit{"Mb/s", 1e6 / 8},
                                     Unit{"Gb/s", 1e9 / 8}};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// The number at the front of `text`, and what follows it.
std::optional<std::pair<double, std::string_view>> leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
  return std::pair{value, text.substr(static_cast<std::size_t>(end - text.data()))};
}

template <std::size_t N>
std::optional<double> parse_with(std::string_view text, const std::array<Unit, N>& units) {
  const auto number = leading_number(trim(text));
  if (!number || number->first < 0) return std::nullopt;
  const std::string_view unit = trim(number->second);
  for (const Unit& candidate : units)
    if (candidate.name == unit) {
      const double value = number->first * candidate.factor;
      return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
  return std::nullopt;
}

constexpr double int64_limit = 9.2e18;

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) {
  // Exact path: a plain integer may exceed what a double holds.
  if (const auto whole = parse_integer(trim(text)))
    return *whole >= 0 ? std::optional(Bytes(*whole)) : std::nullopt;
  const auto value = parse_with(text, byte_units);
  if (!value || *value > int64_limit) return std::nullopt;
  const std::string_view number_alone = trim(text.substr(0, text.find_last_not_of(" B") + 1));
  if (parse_number(number_alone) && *value != std::floor(*value)) return std::nullopt;
  return Bytes(std::llround(*value));
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto seconds = parse_with(text, duration_units);
  if (!seconds || *seconds * 1e9 > int64_limit) return std::nullopt;
  return to_duration(*seconds);
}

std::optional<Bandwidth> parse_bandwidth(std::string_view text) {
  const auto rate = parse_with(text, bandwidth_units);
  return rate ? std::optional(Bandwidth(*rate)) : std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  const auto number = leading_number(text);
  if (!number || !number->second.empty()) return std::nullopt;
  return number->first;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace kvsim
