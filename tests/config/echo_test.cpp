#include "config/echo.h"

#include <doctest/doctest.h>

#include "config/document.h"
#include "config/reader.h"
#include "config/sample.h"

using namespace kvsim;
using namespace kvsim::config;
using sample::Sample;

namespace {

Sample full() {
  Sample s;
  s.flag = true, s.big = 12, s.small = 3, s.ratio = 0.25, s.title = "a \"b\"",
  s.size = Bytes(80 * gib);
  s.wait = to_duration(20e-6), s.speed = Bandwidth(450e9), s.integers = {1, 2},
  s.numbers = {0.1, 1e300}, s.words = {"x"};
  s.mode = sample::Mode::fast, s.limit = 7.5, s.spare = sample::Part{"s", 4}, s.part.name = "p",
  s.parts = {{"a", 1}, {"b", 2}};
  s.model.json = R"({"base":"m","set":{"a":1}})";
  return s;
}

}  // namespace

TEST_CASE("an echo holds every field in order with quantities in base units") {
  Sample s;
  s.part.name = "p";
  const std::string json = echo_json(s, "kvsim.sample/1");
  const Document d = Document::parse(json, "echo");
  const Value r = d.root();
  CHECK(r.key(0) == "schema");
  CHECK(r.find("schema").string() == "kvsim.sample/1");
  CHECK(r.key(1) == "flag");
  CHECK(r.find("size").integer() == 1024);
  CHECK(r.find("wait").number() == 1.5);
  CHECK(r.find("speed").number() == 1e9);
  CHECK(r.find("mode").string() == "slow");
  CHECK(r.find("limit").is_null());
  CHECK(r.find("spare").is_null());
  CHECK(r.find("model").is_null());
  CHECK(r.find("part").find("count").integer() == 3);
  CHECK(r.find("parts").size() == 0);
  CHECK(r.size() == 18);
}

TEST_CASE("reading an echo gives the same struct again") {
  const std::string json = echo_json(full(), "kvsim.sample/1");
  const Document d = Document::parse(json, "echo");
  Sample again;
  Diagnostics diagnostics;
  read(d.root(), again, diagnostics, "kvsim.sample/1");
  CHECK(diagnostics.size() == 0);
  CHECK(echo_json(again, "kvsim.sample/1") == json);
  CHECK(again.parts[1].name == "b");
  CHECK(again.wait == Duration(20'000));
}

TEST_CASE("the JSON Schema states types and ranges and words and required fields") {
  SchemaWriter writer;
  Sample s;
  fields(writer.visitor(), s);
  const Document d = Document::parse(writer.json_schema("Sample", "kvsim.sample/1"), "schema");
  const Value r = d.root();
  CHECK(r.find("title").string() == "Sample");
  CHECK(r.find("required").json() == R"(["schema","part"])");
  const Value p = r.find("properties");
  CHECK(p.find("schema").json() == R"({"const":"kvsim.sample/1"})");
  CHECK(p.find("flag").find("type").string() == "boolean");
  CHECK(p.find("big").find("maximum").number() == 1e18);
  CHECK(p.find("huge").json() == p.find("big").json());
  CHECK(p.find("ratio").find("exclusiveMinimum").number() == 0);
  CHECK(p.find("size").find("type").json() == R"(["string","number"])");
  CHECK(p.find("mode").find("enum").json() == R"(["fast","slow"])");
  CHECK(p.find("limit").find("type").json() == R"(["number","null"])");
  CHECK(p.find("spare").find("type").json() == R"(["object","null"])");
  CHECK(p.find("part").find("properties").find("name").find("type").string() == "string");
  CHECK(p.find("part").find("additionalProperties").boolean() == false);
  CHECK(p.find("parts").find("items").find("required").json() == R"(["name"])");
  CHECK(p.find("integers").find("items").find("minimum").number() == 0);
}

TEST_CASE("the field table names nested fields with dots") {
  SchemaWriter writer;
  Sample s;
  fields(writer.visitor(), s);
  const std::string table = writer.markdown();
  CHECK(table.starts_with("| field | type | default | meaning |\n"));
  CHECK(table.find("| `part.count` | integer | `3` | how many |") != std::string::npos);
  CHECK(table.find("| `parts[].name` | string | `required` | its name |") != std::string::npos);
  CHECK(table.find("| `limit` | number | `unset` | a limit |") != std::string::npos);
  CHECK(table.find("| `mode` | one of fast, slow | `slow` | a mode |") != std::string::npos);
}
