#pragma once
#include <cstddef>
#include <string_view>

namespace kvsim::kernels::bench {

// Insertions, deletions and replacements of a character that turn one text into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The same to the nearest part of `text`: 0 where the text holds it.
std::size_t distance_within(std::string_view part, std::string_view text);

}  // namespace kvsim::kernels::bench
