#pragma once
#include <string_view>

namespace kvsim {

// The release, as in CMakeLists.txt; a test compares them.
inline constexpr std::string_view version = "0.1.0";

// Rises whenever a golden number moves, with an entry in docs/CHANGELOG.md; every result carries
// it.
inline constexpr int behaviour = 7;

}  // namespace kvsim
