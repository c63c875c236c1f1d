// Every recorded case of every family, replayed. tests/conform/families.csv holds how many of each
// match; the counts may only grow.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "config/csv.h"
#include "conform/conformance.h"

using namespace kvsim;
using conform::Conformance;

namespace {

namespace fs = std::filesystem;

const fs::path here = fs::path(KVSIM_SOURCE_DIR) / "tests/conform";

struct Row {
  std::int64_t cases = 0, matched = 0;
};

std::map<std::string, Row> expected_rows() {
  std::map<std::string, Row> rows;
  auto reader = config::CsvReader::open((here / "families.csv").string());
  while (reader.next())
    rows[std::string(reader.cells()[0])] = {reader.integer(1), reader.integer(2)};
  return rows;
}

Conformance replay(const fs::path& folder, std::string_view end) {
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().string().ends_with(end)) files.insert(entry.path().string());
  static const spec::Catalog catalog;
  conform::ConformOptions options;
  options.jobs = 2;
  options.shown = 1000;
  return conform::conform({files.begin(), files.end()}, catalog, options);
}

std::string first_difference(const Conformance& c, const std::string& family) {
  for (const conform::Difference& d : c.differences)
    if (d.family == family)
      return d.case_id + " at " + std::to_string(d.at) + " " + d.field + ": " +
             (d.reason.empty() ? "want " + d.expected + ", got " + d.got : d.reason);
  return "";
}

}  // namespace

TEST_SUITE("conform/families") {
  TEST_CASE("the committed cases of every family that matches wholly match") {
    const Conformance c = replay(here / "fixtures", ".jsonl");
    const auto rows = expected_rows();
    for (const conform::FamilyResult& f : c.families) {
      CAPTURE(f.name);
      REQUIRE(rows.contains(f.name));
      const Row& row = rows.at(f.name);
      if (row.matched == row.cases)
        CHECK_MESSAGE(f.matched == f.cases, first_difference(c, f.name));
    }
    CHECK(c.families.size() > 30);
  }

  TEST_CASE("as many recorded cases match as the table says and whole families are named") {
    const fs::path folder = fs::path(KVSIM_SOURCE_DIR) / "../shared/data/oracle";
    if (!fs::exists(folder)) {
      MESSAGE("skipped: no recorded traces beside the checkout (../shared/data/oracle)");
      return;
    }
    const Conformance c = replay(folder, ".jsonl.gz");
    if (const char* path = std::getenv("KVSIM_WRITE_FAMILIES")) {
      std::ofstream out(path);
      out << "family,cases,matched\n";
      for (const conform::FamilyResult& f : c.families)
        out << f.name << ',' << f.cases << ',' << f.matched << '\n';
      return;
    }
    const auto rows = expected_rows();
    CHECK(c.families.size() == rows.size());
    for (const conform::FamilyResult& f : c.families) {
      CAPTURE(f.name);
      REQUIRE(rows.contains(f.name));
      const Row& row = rows.at(f.name);
      CHECK(f.cases == row.cases);
      CHECK_MESSAGE(f.matched >= row.matched, first_difference(c, f.name));
      if (f.matched > row.matched)
        MESSAGE("more match: build kvsim_update_conformance to keep the count");
      CHECK_MESSAGE((f.matched == f.cases) == (row.matched == row.cases),
                    "the table does not say that all match: build kvsim_update_conformance");
    }
  }
}
