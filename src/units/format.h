#pragma once
#include <string>

#include "units/units.h"

// Quantities for people: three significant digits and a unit. Documents for machines carry plain
// numbers whose field name ends in the unit instead.
namespace kvsim {

std::string format_bytes(Bytes size);            // "40.0 GiB", "320 KiB", "1152 B"
std::string format_bytes_decimal(Bytes size);    // "41.9 GB"
std::string format_duration(Duration span);      // "47.1 ms", "2.60 s", "20 m 3 s"
std::string format_bandwidth(Bandwidth rate);    // "3.35 TB/s"
std::string format_count(double value);          // "894,566", "2.14 M"
std::string format_integer(std::int64_t value);  // "894,566"
std::string format_significant(double value);    // three significant digits, no exponent below 1e15

}  // namespace kvsim
