#pragma once
#include <cstddef>

namespace kvsim::config {

// Deepest nesting of a document, and so the longest path into one.
inline constexpr std::size_t max_depth = 100;

}  // namespace kvsim::config
