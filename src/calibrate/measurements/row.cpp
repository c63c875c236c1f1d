#include "calibrate/measurements/row.h"

#include <fmt/format.h>

#include "config/document.h"

namespace kvsim::calibrate {
namespace {

// Beyond it products of a few columns would leave int64 and double's whole numbers.
constexpr std::int64_t largest_count = 1'000'000'000'000;

}  // namespace

const std::string& Row::text(std::string_view column) const { return csv_.cell(index(column)); }

std::string Row::word(std::string_view column) const {
  if (text(column).empty()) refuse(column, "a word");
  return text(column);
}

std::int64_t Row::count(std::string_view column, std::int64_t low) const {
  const std::int64_t value = csv_.integer(index(column));
  if (value < low || value > largest_count)
    refuse(column, fmt::format("a whole number from {} up to {}", low, largest_count));
  return value;
}

std::int64_t Row::count_or(std::string_view column, std::int64_t low,
                           std::int64_t when_empty) const {
  return text(column).empty() ? when_empty : count(column, low);
}

double Row::positive(std::string_view column) const {
  const double value = csv_.number(index(column));
  if (!(value > 0)) refuse(column, "a number above 0");
  return value;
}

std::optional<double> Row::optional_positive(std::string_view column) const {
  if (text(column).empty()) return std::nullopt;
  return positive(column);
}

bool Row::either(std::string_view column, std::string_view yes, std::string_view no) const {
  if (text(column) == yes) return true;
  if (text(column) != no) refuse(column, fmt::format("\"{}\" or \"{}\"", yes, no));
  return false;
}

void Row::refuse(std::string_view column, std::string_view wanted) const {
  throw InputError(csv_.at(
      index(column), "csv-cell",
      fmt::format("{}: expected {}, found {}", column, wanted, config::json_string(text(column)))));
}

}  // namespace kvsim::calibrate
