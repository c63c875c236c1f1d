#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/document.h"

// Tables of published figures beside the checkout. A test that needs one says so and passes where
// it is missing.
namespace kvsim::test {

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      out.emplace_back();
    else if (c != '\r')
      out.back() += c;
  }
  return out;
}

// Rows of ../shared/data/<name>, empty when it is not there.
inline std::vector<Row> facts(const std::string& name) {
  const std::string path = std::string(KVSIM_SOURCE_DIR) + "/../shared/data/" + name;
  std::vector<Row> rows;
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: ../shared/data/" << name << " is not there");
    return rows;
  }
  std::vector<std::string> header;
  std::string line;
  for (const char c : config::read_file(path)) {
    if (c != '\n') {
      line += c;
      continue;
    }
    const auto row = cells(std::exchange(line, {}));
    if (header.empty()) {
      header = row;
      continue;
    }
    Row& out = rows.emplace_back();
    for (std::size_t i = 0; i < header.size() && i < row.size(); ++i) out[header[i]] = row[i];
  }
  return rows;
}

// The number in a column; 0 where it is blank.
inline double value(const Row& row, const std::string& column) {
  return std::atof(row.at(column).c_str());
}

}  // namespace kvsim::test
