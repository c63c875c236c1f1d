#include "units/parse.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace kvsim;

namespace {

std::int64_t bytes(const char* text) {
  const auto parsed = parse_bytes(text);
  return parsed ? parsed->value() : -1;
}
std::int64_t ns(const char* text) {
  const auto parsed = parse_duration(text);
  return parsed ? parsed->value() : -1;
}
double rate(const char* text) {
  const auto parsed = parse_bandwidth(text);
  return parsed ? parsed->value() : -1;
}

}  // namespace

TEST_CASE("sizes are read in every binary and decimal unit") {
  CHECK(bytes("0") == 0);
  CHECK(bytes("1024") == 1024);
  CHECK(bytes("7 B") == 7);
  CHECK(bytes("3kB") == 3000);
  CHECK(bytes("3KB") == 3000);
  CHECK(bytes("2 MB") == 2'000'000);
  CHECK(bytes("41.94 GB") == 41'940'000'000);
  CHECK(bytes("1.5TB") == 1'500'000'000'000);
  CHECK(bytes("1KiB") == kib);
  CHECK(bytes("1.5 MiB") == 3 * mib / 2);
  CHECK(bytes("80GiB") == 80 * gib);
  CHECK(bytes("2TiB") == 2048 * gib);
  CHECK(bytes("  80 GiB  ") == 80 * gib);
  CHECK(bytes("1e3") == 1000);
}

TEST_CASE("plain integer sizes stay exact up to the end of int64") {
  CHECK(bytes("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(bytes("9007199254740993") == 9007199254740993);
  CHECK(bytes("9223372036854775808") == -1);
  CHECK(bytes("16777216 TiB") == -1);
}

TEST_CASE("what is not a size is refused") {
  for (const char* text : {"",       " ",    "GiB",   "-1",  "-1GiB", "1 gib", "1Gib",  "1 GiBs",
                           "1..5GB", "0x10", "1,5GB", "nan", "inf",   "infGB", "1e400", "1 GB/s",
                           "1s",     "+",    "--1",   "1.5", "1.5 B", "0.1B",  "\t1"}) {
    CAPTURE(text);
    CHECK(bytes(text) == -1);
  }
}

TEST_CASE("durations are read in every unit and rounded to the nearest nanosecond") {
  CHECK(ns("1s") == 1'000'000'000);
  CHECK(ns("0s") == 0);
  CHECK(ns("2.5") == 2'500'000'000);
  CHECK(ns("1.5ms") == 1'500'000);
  CHECK(ns("20us") == 20'000);
  CHECK(ns("7 ns") == 7);
  CHECK(ns("0.4ns") == 0);
  CHECK(ns("2min") == 120'000'000'000);
  CHECK(ns("2m") == 120'000'000'000);
  CHECK(ns("1h") == 3'600'000'000'000);
  CHECK(ns("1d") == 86'400'000'000'000);
  CHECK(ns("100000d") == 8'640'000'000'000'000'000);
}

TEST_CASE("what is not a duration is refused") {
  for (const char* text :
       {"", "s", "-1s", "1 parsec", "1 S", "1sec", "1e300s", "200000d", "nan", "nanos", "1s2"}) {
    CAPTURE(text);
    CHECK(ns(text) == -1);
  }
}

TEST_CASE("bandwidths are read in bytes and bits per second") {
  CHECK(rate("450GB/s") == 450e9);
  CHECK(rate("3.35 TB/s") == doctest::Approx(3.35e12));
  CHECK(rate("64 GiB/s") == 64.0 * static_cast<double>(gib));
  CHECK(rate("1TiB/s") == 1024.0 * static_cast<double>(gib));
  CHECK(rate("1kB/s") == 1000);
  CHECK(rate("1KiB/s") == 1024);
  CHECK(rate("5MiB/s") == 5.0 * static_cast<double>(mib));
  CHECK(rate("200Gbit/s") == 25e9);
  CHECK(rate("200 Gb/s") == 25e9);
  CHECK(rate("8Mbit/s") == 1e6);
  CHECK(rate("8Mb/s") == 1e6);
  CHECK(rate("5 B/s") == 5);
  CHECK(rate("12.5") == 12.5);
}

TEST_CASE("what is not a finite bandwidth is refused") {
  for (const char* text :
       {"", "GB/s", "-1GB/s", "1GB", "1 GB / s", "1e308TB/s", "inf", "1 gbit/s"}) {
    CAPTURE(text);
    CHECK(rate(text) == -1);
  }
}

TEST_CASE("numbers must span the whole text and be finite") {
  CHECK(parse_number("1e-3") == 1e-3);
  CHECK(parse_number("-2.5") == -2.5);
  for (const char* text : {"", " 1", "1 ", "1e999", "nan", "-inf", "1.5x", "1,5", "0x1p3"}) {
    CAPTURE(text);
    CHECK(!parse_number(text));
  }
}

TEST_CASE("whole numbers accept int64 and nothing else") {
  CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(parse_integer("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "+1", "1.0", "1e3", " 1", "9223372036854775808", "12a", "-"}) {
    CAPTURE(text);
    CHECK(!parse_integer(text));
  }
}
