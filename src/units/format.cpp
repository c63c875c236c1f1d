#include "units/format.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdlib>

namespace kvsim {
namespace {

std::string scaled(double value, double step, const std::array<const char*, 5>& names) {
  std::size_t i = 0;
  // From half below a step on, three digits would print the step itself ("1024 KiB").
  while (i + 1 < names.size() && std::abs(value) >= step - (i == 0 ? 0 : 0.5)) value /= step, ++i;
  return fmt::format("{} {}", i == 0 ? fmt::format("{:.0f}", value) : format_significant(value),
                     names[i]);
}

}  // namespace

std::string format_significant(double value) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:.0f}", value);
  // The exponent after rounding to three digits: 9.999 is 10.0.
  const std::string rounded = fmt::format("{:.2e}", value);
  const int exponent = std::atoi(rounded.c_str() + rounded.find('e') + 1);
  return fmt::format("{:.{}f}", value, exponent >= 2 ? 0 : 2 - exponent);
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
  const double size = std::abs(s);
  if (span.value() == 0) return "0 s";
  if (size < 1e-6) return fmt::format("{} ns", span.value());
  if (size < 0.9995e-3) return format_significant(s * 1e6) + " us";
  if (size < 0.9995) return format_significant(s * 1e3) + " ms";
  if (size < 120) return format_significant(s) + " s";
  const std::int64_t whole = std::llround(size);
  const char* sign = s < 0 ? "-" : "";
  if (whole < 7200) return fmt::format("{}{} m {} s", sign, whole / 60, whole % 60);
  return fmt::format("{}{} h {} m", sign, whole / 3600, whole % 3600 / 60);
}

std::string format_integer(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string format_count(double value) {
  if (!std::isfinite(value) || std::abs(value) < 999.5) return format_significant(value);
  if (std::abs(value) < 1e7) return format_integer(std::llround(value));
  return format_significant(value / 1e6) + " M";
}

}  // namespace kvsim
