#include "workload/io/timestamp.h"

#include <algorithm>
#include <chrono>

namespace kvsim::workload {
namespace {

class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  bool digits(int count, int& value) {
    value = 0;
    for (int i = 0; i < count; ++i) {
      if (text_.empty() || text_[0] < '0' || text_[0] > '9') return false;
      value = value * 10 + (text_[0] - '0');
      text_.remove_prefix(1);
    }
    return true;
  }
  bool take(char c) {
    if (text_.empty() || text_[0] != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool done() const { return text_.empty(); }

 private:
  std::string_view text_;
};

}  // namespace

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  Cursor in(text);
  int year, month, day, hour, minute, second;
  if (!in.digits(4, year) || !in.take('-') || !in.digits(2, month) || !in.take('-') ||
      !in.digits(2, day))
    return {};
  if (!in.take(' ') && !in.take('T')) return {};
  if (!in.digits(2, hour) || !in.take(':') || !in.digits(2, minute) || !in.take(':') ||
      !in.digits(2, second))
    return {};
  std::int64_t fraction = 0;
  if (in.take('.')) {
    int digit = 0, count = 0;
    for (; in.digits(1, digit); ++count)
      if (count < 9) fraction = fraction * 10 + digit;
    if (count == 0) return {};
    for (count = std::min(count, 9); count < 9; ++count) fraction *= 10;
  }
  int zone = 0;  // minutes east
  if (!in.take('Z') && !in.done()) {
    const bool west = in.take('-');
    int zone_hour, zone_minute;
    if ((!west && !in.take('+')) || !in.digits(2, zone_hour) || !in.take(':') ||
        !in.digits(2, zone_minute))
      return {};
    if (zone_hour > 23 || zone_minute > 59) return {};
    zone = (west ? -1 : 1) * (zone_hour * 60 + zone_minute);
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!in.done() || !date.ok() || year < 1970 || year > 2200 || hour > 23 || minute > 59 ||
      second > 59)
    return {};
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t seconds = ((days * 24 + hour) * 60 + minute - zone) * 60 + second;
  return seconds * 1'000'000'000 + fraction;
}

}  // namespace kvsim::workload
