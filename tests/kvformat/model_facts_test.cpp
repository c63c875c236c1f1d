#include <doctest/doctest.h>

#include <fstream>
#include <set>
#include <string>

#include "config/csv.h"
#include "kvformat/footprint.h"
#include "spec/catalog.h"

using namespace kvsim;

namespace {

const std::string facts_path =
    std::string(KVSIM_SOURCE_DIR) + "/../shared/data/models/model_facts.csv";

}  // namespace

TEST_CASE("the catalog gives every published KV size by our formulas") {
  if (!std::ifstream(facts_path)) {
    MESSAGE("skipped: ../shared/data/models/model_facts.csv is not there");
    return;
  }
  const spec::Catalog catalog;
  const auto known = catalog.model_ids();
  const std::set<std::string> ids(known.begin(), known.end());
  auto csv = config::CsvReader::open(facts_path);
  const auto name = csv.required_column("name"),
             growing = csv.required_column("kv_bytes_per_token_bf16"),
             constant = csv.required_column("kv_const_bytes_bf16");
  int compared = 0;
  while (csv.next()) {
    if (ids.count(csv.cell(name)) == 0) continue;
    const auto token = csv.optional_number(growing), sequence = csv.optional_number(constant);
    const auto fp =
        kvformat::footprint(catalog.model(csv.cell(name)), *kvformat::find_kv_dtype("bfloat16"));
    CAPTURE(csv.cell(name));
    if (token) CHECK(fp.bytes_per_token == *token);
    if (sequence) CHECK(fp.bytes_per_sequence == *sequence);
    ++compared;
  }
  CHECK(compared >= 90);
}
