#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/host/problem.h"
#include "kvbench/schema_check.h"

using nlohmann::json;
using namespace kvsim::kernels;

namespace {

json read(const std::string& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in.good(), path);
  return json::parse(in);
}
json document(const std::string& name) {
  return read(std::string(KVBENCH_DOCUMENTS) + "/" + name + ".json");
}
json results() { return document("first")["results"]; }

}  // namespace

TEST_CASE("the document follows its schema") {
  const json schema = read(std::string(KVSIM_SOURCE_DIR) + "/docs/schema/kvbench.json");
  for (const std::string& violation : schema_violations(schema.dump(), document("first").dump()))
    FAIL_CHECK(violation);
}

TEST_CASE("the schema refuses what is not in it") {
  const json schema = read(std::string(KVSIM_SOURCE_DIR) + "/docs/schema/kvbench.json");
  json wrong = document("first");
  wrong["results"][0]["status"] = "fine";
  wrong["results"][0]["bytes"] = -1;
  wrong["results"][0].erase("kernel");
  wrong["device"]["colour"] = "green";
  wrong["seed"] = "1";
  CHECK(schema_violations(schema.dump(), wrong.dump()).size() == 5);
}

TEST_CASE("every variant of every family is in the document") {
  std::multiset<std::string> listed;
  for (const json& result : results()) listed.insert(result["id"]);
  CHECK(!families().empty());
  for (const Family& family : families()) {
    const Problems quick = family.quick_cases();
    CHECK_MESSAGE(!quick.empty(), std::string(family.name));
    for (const auto& problem : quick)
      for (const VariantInfo& v : problem->variants()) {
        const std::string id = case_id(problem->info(), v.name);
        CHECK_MESSAGE(listed.count(id) == 1, id);
      }
  }
}

TEST_CASE("every variant that the executor runs is right within its gate") {
  for (const json& result : results()) {
    CAPTURE(result["id"].get<std::string>());
    if (result["status"] == "unsupported") {
      CHECK(result["reason"] == "this variant runs on the GPU only");
      continue;
    }
    CHECK(result["status"] == "ok");
    CHECK(result["error"]["rel_l2"].get<double>() <= result["error"]["gate"].get<double>());
    CHECK(result["error"]["gate"].get<double>() <= 5e-3);
    if (result["kernel"] != "empty") CHECK(result["error"]["rows_checked"].get<int>() > 0);
  }
}

TEST_CASE("the executor takes no times") {
  const json d = document("first");
  CHECK(d["device"] == json{{"name", "cpu-simt"}});
  for (const json& result : d["results"]) CHECK(result["time_us"].is_null());
  const json ceilings = d["ceilings"];
  for (const json& ceiling : ceilings) CHECK(ceiling.is_null());
}

TEST_CASE("two runs with one seed differ in their start only") {
  json first = document("first"), second = document("second");
  first.erase("started"), second.erase("started");
  CHECK(first == second);
}
