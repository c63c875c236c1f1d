#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kvsim::calibrate {

// Rows that nothing was done with, and why: counted, never dropped in silence.
struct SkippedRows {
  std::string kernel, reason;
  std::int64_t n = 0;
  std::string first;  // "file:line" of the first one
};

class SkipCounter {
 public:
  void add(const std::string& kernel, const std::string& reason, const std::string& place) {
    SkippedRows& rows = rows_[{kernel, reason}];
    if (rows.n++ == 0) rows.kernel = kernel, rows.reason = reason, rows.first = place;
  }
  // By kernel, most frequent first.
  std::vector<SkippedRows> list() const;

 private:
  std::map<std::pair<std::string, std::string>, SkippedRows> rows_;
};

}  // namespace kvsim::calibrate
