#pragma once
#include <optional>
#include <string_view>

#include "units/units.h"

// Reads quantities as people write them: a number, optional blanks, a unit. Binary (KiB, MiB, GiB,
// TiB) and decimal (kB, MB, GB, TB) prefixes are distinct; a bare number is in the base unit.
// nullopt: not such a quantity, negative, not finite, beyond int64, or a fraction of a single byte
// ("1.5 B"; "0.1 GiB" is rounded to whole bytes).
namespace kvsim {

std::optional<Bytes> parse_bytes(std::string_view text);  // "80GiB", "41.94 GB", "1024"
std::optional<Duration> parse_duration(
    std::string_view text);  // "1s", "20us", "1.5ms", "2min", "1h"
std::optional<Bandwidth> parse_bandwidth(
    std::string_view text);  // "450GB/s", "64 GiB/s", "200Gbit/s"

// A finite number that spans the whole text, in JSON's or C's decimal notation.
std::optional<double> parse_number(std::string_view text);
std::optional<std::int64_t> parse_integer(std::string_view text);

}  // namespace kvsim
