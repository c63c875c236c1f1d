#include "diag/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace kvsim {
namespace {

std::string folded(std::string_view word) {
  std::string out(word);
  for (char& c : out)
    c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      current[j] =
          std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before = previous;
    previous = current;
  }
  return previous[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   std::span<const std::string_view> candidates) {
  const std::string key = folded(word);
  std::optional<std::string> best;
  std::size_t best_distance = std::string::npos;
  for (std::string_view candidate : candidates) {
    const std::string other = folded(candidate);
    std::size_t distance = edit_distance(key, other);
    const bool prefix =
        key.size() >= 3 && (other.starts_with(key) || key.starts_with(other)) && !other.empty();
    if (distance > std::max<std::size_t>(1, std::max(key.size(), other.size()) / 3) && !prefix)
      continue;
    if (distance < best_distance) best_distance = distance, best = std::string(candidate);
  }
  return best;
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  std::vector<std::string_view> views(candidates.begin(), candidates.end());
  return nearest(word, std::span<const std::string_view>(views));
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  if (const auto near = nearest(word, candidates))
    return fmt::format("did you mean \"{}\"?", *near);
  if (candidates.empty()) return {};
  if (candidates.size() <= 24)
    return fmt::format("expected one of {}", fmt::join(candidates, ", "));
  return {};
}

}  // namespace kvsim
