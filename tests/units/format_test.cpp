#include "units/format.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "units/units.h"

using namespace kvsim;

TEST_CASE("sizes print three digits and the largest unit that keeps them above one") {
  CHECK(format_bytes(Bytes(0)) == "0 B");
  CHECK(format_bytes(Bytes(1023)) == "1023 B");
  CHECK(format_bytes(Bytes(1024)) == "1.00 KiB");
  CHECK(format_bytes(Bytes(320 * kib)) == "320 KiB");
  CHECK(format_bytes(Bytes(40 * gib)) == "40.0 GiB");
  CHECK(format_bytes(Bytes(gib - 1)) == "1.00 GiB");
  CHECK(format_bytes(Bytes(5000 * 1024 * gib)) == "5000 TiB");
  CHECK(format_bytes_decimal(Bytes(41'940'000'000)) == "41.9 GB");
  CHECK(format_bytes_decimal(Bytes(999'600)) == "1.00 MB");
  CHECK(format_bandwidth(Bandwidth(3.35e12)) == "3.35 TB/s");
  CHECK(format_bandwidth(Bandwidth(25e9)) == "25.0 GB/s");
}

TEST_CASE("durations print in the unit a person would choose") {
  CHECK(format_duration(Duration(0)) == "0 s");
  CHECK(format_duration(Duration(1)) == "1 ns");
  CHECK(format_duration(Duration(999)) == "999 ns");
  CHECK(format_duration(Duration(1000)) == "1.00 us");
  CHECK(format_duration(Duration(999'999)) == "1.00 ms");
  CHECK(format_duration(Duration(47'100'000)) == "47.1 ms");
  CHECK(format_duration(Duration(999'999'999)) == "1.00 s");
  CHECK(format_duration(to_duration(2.6)) == "2.60 s");
  CHECK(format_duration(to_duration(1203)) == "20 m 3 s");
  CHECK(format_duration(to_duration(-1203)) == "-20 m 3 s");
  CHECK(format_duration(to_duration(7200)) == "2 h 0 m");
}

TEST_CASE("numbers print three significant digits without an exponent") {
  CHECK(format_significant(0) == "0");
  CHECK(format_significant(1) == "1.00");
  CHECK(format_significant(9.999) == "10.0");
  CHECK(format_significant(99.96) == "100");
  CHECK(format_significant(-0.01234) == "-0.0123");
  CHECK(format_significant(123456) == "123456");
  CHECK(format_significant(std::nan("")) == "nan");
}

TEST_CASE("counts carry thousands separators up to ten million") {
  CHECK(format_integer(0) == "0");
  CHECK(format_integer(-1234567) == "-1,234,567");
  CHECK(format_integer(999) == "999");
  CHECK(format_integer(-999) == "-999");
  CHECK(format_integer(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
  CHECK(format_count(894566) == "894,566");
  CHECK(format_count(999.7) == "1,000");
  CHECK(format_count(21'400'000) == "21.4 M");
  CHECK(format_count(0.5) == "0.500");
}

TEST_CASE("quotients round up without overflow") {
  CHECK(ceil_div(0, 16) == 0);
  CHECK(ceil_div(1, 16) == 1);
  CHECK(ceil_div(16, 16) == 1);
  CHECK(ceil_div(17, 16) == 2);
  CHECK(ceil_div(std::numeric_limits<std::int64_t>::max(), 2) == std::int64_t{1} << 62);
}

TEST_CASE("seconds become whole nanoseconds with ties away from zero") {
  CHECK(to_duration(1e-9).value() == 1);
  CHECK(to_duration(0.5e-9).value() == 1);
  CHECK(to_duration(-0.5e-9).value() == -1);
  CHECK(to_duration(0.49e-9).value() == 0);
  CHECK(to_seconds(Duration(1'500'000'000)) == 1.5);
  CHECK((Time(5) + Duration(7)).nanoseconds() == 12);
  CHECK((Time(5) - Time(7)).value() == -2);
  CHECK(transfer_seconds(Bytes(1000), Bandwidth(500)) == 2);
}
