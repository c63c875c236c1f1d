#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvsim {

// The candidate nearest to `word` by edit distance (insert, delete, replace, swap of neighbours),
// if it is near enough to be what was meant: at most a third of the longer word, or one a prefix of
// the other. Case and '-' against '_' do not count. Ties go to the earlier candidate.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);
std::optional<std::string> nearest(std::string_view word,
                                   std::span<const std::string_view> candidates);

// `did you mean "x"?`, or `expected one of a, b, c` when nothing is near and the list is short.
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

}  // namespace kvsim
