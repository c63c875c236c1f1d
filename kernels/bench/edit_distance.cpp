#include "kernels/bench/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace kvsim::kernels::bench {
namespace {

// One row of the table: distances of a's first characters to b's first j, that begin anywhere in b
// if the first row is all zero.
void fill(std::vector<std::size_t>& row, std::string_view a, std::string_view b) {
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  fill(row, a, b);
  return row.back();
}

std::size_t distance_within(std::string_view part, std::string_view text) {
  std::vector<std::size_t> row(text.size() + 1, 0);
  fill(row, part, text);
  return *std::ranges::min_element(row);
}

}  // namespace kvsim::kernels::bench
