#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/csv.h"

namespace kvsim::calibrate {

// Typed access to the current record of a measurement file by column name. What a cell must not be
// is an InputError with its place.
class Row {
 public:
  explicit Row(const config::CsvReader& csv) : csv_(csv) {}

  const std::string& text(std::string_view column) const;  // may be empty
  std::string word(std::string_view column) const;         // must not be empty
  std::int64_t count(std::string_view column, std::int64_t low = 1) const;
  std::int64_t count_or(std::string_view column, std::int64_t low, std::int64_t when_empty) const;
  double positive(std::string_view column) const;
  std::optional<double> optional_positive(std::string_view column) const;
  double micro_seconds(std::string_view column) const { return positive(column) * 1e-6; }
  // One of two words; true for the first.
  bool either(std::string_view column, std::string_view yes, std::string_view no) const;

 private:
  std::size_t index(std::string_view column) const { return csv_.required_column(column); }
  [[noreturn]] void refuse(std::string_view column, std::string_view wanted) const;
  const config::CsvReader& csv_;
};

}  // namespace kvsim::calibrate
