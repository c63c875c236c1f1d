#pragma once
#include <span>
#include <string_view>

namespace kvsim::cli {

// "kvsim.model/1", ...: every schema this build reads or writes, in alphabetical order.
std::span<const std::string_view> schema_ids();

}  // namespace kvsim::cli
