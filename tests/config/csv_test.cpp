#include "config/csv.h"

#include <doctest/doctest.h>

using kvsim::InputError;
using kvsim::config::CsvReader;

namespace {

kvsim::Diagnostic failure(const std::string& text, bool read_all = true) {
  try {
    CsvReader csv = CsvReader::from_text(text, "t.csv");
    while (read_all && csv.next()) {
    }
  } catch (const InputError& error) {
    return error.diagnostics().front();
  }
  return {};
}

}  // namespace

TEST_CASE("CSV cells come out as written with quotes and commas and line breaks inside") {
  CsvReader csv = CsvReader::from_text(
      "\xEF\xBB\xBFname,value\r\n\"a, \"\"b\"\"\",1\r\n\n\"two\nlines\",2\nlast,", "t.csv");
  CHECK(csv.header() == std::vector<std::string>{"name", "value"});
  REQUIRE(csv.next());
  CHECK(csv.cell(0) == "a, \"b\"");
  CHECK(csv.line() == 2);
  REQUIRE(csv.next());
  CHECK(csv.cell(0) == "two\nlines");
  CHECK(csv.line() == 4);
  REQUIRE(csv.next());
  CHECK(csv.cell(0) == "last");
  CHECK(csv.line() == 6);
  CHECK(!csv.optional_number(1));
  CHECK(!csv.next());
}

TEST_CASE("a CSV cell that is no number is reported with its column name and line and column") {
  CsvReader csv = CsvReader::from_text("gpu,latency_us\nh100,\"1.5\"\nh200,fast\n", "gemm.csv");
  REQUIRE(csv.next());
  CHECK(csv.number(csv.required_column("latency_us")) == 1.5);
  REQUIRE(csv.next());
  try {
    csv.number(1);
    FAIL("a word was read as a number");
  } catch (const InputError& error) {
    const auto& d = error.diagnostics().front();
    CHECK(d.line == 3);
    CHECK(d.column == 6);
    CHECK(d.width == 4);
    CHECK(d.message == "latency_us: expected a number, found \"fast\"");
    CHECK(std::string(error.what()).find("gemm.csv:3:6") != std::string::npos);
  }
}

TEST_CASE("a missing CSV column is reported with the nearest name there is") {
  const CsvReader csv = CsvReader::from_text("gpu,latncy_us\n", "gemm.csv");
  CHECK(!csv.column("latency_us"));
  try {
    csv.required_column("latency_us");
    FAIL("found a column that is not there");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().hint.find("latncy_us") != std::string::npos);
  }
}

TEST_CASE("malformed CSV is refused with a position") {
  CHECK(failure("").code == "csv-empty");
  CHECK(failure("\n \n").code == "csv-empty");
  CHECK(failure("a,b\n1,2,3\n").code == "csv-cells");
  CHECK(failure("a,b\n1\n").line == 2);
  CHECK(failure("a,b\n1,\"x\n").code == "csv-syntax");
  CHECK(failure("a,b\n1,x\"y\n2,z\"w\n").code == "csv-syntax");
  CHECK(failure("a,b\n1\r2,3\n").code == "csv-syntax");
  CHECK(failure("a,a\n").code == "csv-header");
  CHECK(failure("a,\n").code == "csv-header");
  CHECK(failure("a,b\n1,\xff\n").code == "csv-utf8");
  CHECK(failure("a,b\n1,\xff\n").column == 3);
  CHECK(failure("a,b\n\"" + std::string(2'000'000, 'x')).code == "csv-record");
}

TEST_CASE("CSV records that straddle the read buffer stay whole") {
  std::string text = "id,payload\n";
  for (int i = 0; i < 5000; ++i)
    text += std::to_string(i) + ",\"" + std::string(static_cast<std::size_t>(i % 97), 'p') + "\"\n";
  CsvReader csv = CsvReader::from_text(text, "t.csv");
  int count = 0;
  while (csv.next()) {
    REQUIRE(csv.integer(0) == count);
    REQUIRE(csv.cell(1).size() == static_cast<std::size_t>(count % 97));
    ++count;
  }
  CHECK(count == 5000);
}
