#include "calibrate/skipped.h"

#include <algorithm>

namespace kvsim::calibrate {

std::vector<SkippedRows> SkipCounter::list() const {
  std::vector<SkippedRows> out;
  for (const auto& [key, rows] : rows_) out.push_back(rows);
  std::ranges::stable_sort(out, [](const SkippedRows& a, const SkippedRows& b) {
    return a.kernel != b.kernel ? a.kernel < b.kernel : a.n > b.n;
  });
  return out;
}

}  // namespace kvsim::calibrate
