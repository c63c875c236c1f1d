#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace kvsim::workload {

// Nanoseconds since 1970-01-01 UTC of "YYYY-MM-DD hh:mm:ss[.f...][Z|+hh:mm]" ('T' for the blank is
// taken too; no zone means UTC; digits beyond the ninth are cut). nullopt: not such a time.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

}  // namespace kvsim::workload
