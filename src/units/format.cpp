#include "units/format.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace kvsim {
namespace {

std::string scaled(double value, double step, const std::array<const char*, 5>& names) {
  std::size_t i = 0;
  while (i + 1 < names.size() && std::abs(value) >= step) value /= step, ++i;
  return fmt::format("{} {}", i == 0 ? fmt::format("{:.0f}", value) : format_significant(value),
                     names[i]);
}

}  // namespace

std::string format_significant(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:.0f}", value);
  const double magnitude = std::floor(std::log10(std::abs(value)));
  const int decimals = magnitude >= 2 ? 0 : static_cast<int>(2 - magnitude);
  return fmt::format("{:.{}f}", value, decimals);
}

std::string format_bytes(Bytes size) {
  return scaled(static_cast<double>(size.value()), 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

std::string format_bytes_decimal(Bytes size) {
  return scaled(static_cast<double>(size.value()), 1000, {"B", "kB", "MB", "GB", "TB"});
}

std::string format_bandwidth(Bandwidth rate) {
  return scaled(rate.value(), 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"});
}

std::string format_duration(Duration span) {
  const double s = to_seconds(span);
  if (s == 0) return "0 s";
  if (std::abs(s) < 1e-6) return fmt::format("{} ns", span.value());
  if (std::abs(s) < 1e-3) return format_significant(s * 1e6) + " us";
  if (std::abs(s) < 1) return format_significant(s * 1e3) + " ms";
  if (std::abs(s) < 120) return format_significant(s) + " s";
  const std::int64_t whole = std::llround(s);
  if (whole < 7200) return fmt::format("{} m {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} m", whole / 3600, whole % 3600 / 60);
}

std::string format_integer(std::int64_t value) {
  std::string digits = std::to_string(std::abs(value));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return value < 0 ? "-" + digits : digits;
}

std::string format_count(double value) {
  if (std::abs(value) < 1000) return format_significant(value);
  if (std::abs(value) < 1e7) return format_integer(std::llround(value));
  return format_significant(value / 1e6) + " M";
}

}  // namespace kvsim
