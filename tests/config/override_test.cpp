#include <doctest/doctest.h>

#include "config/document.h"

using namespace kvsim;
using namespace kvsim::config;

namespace {

constexpr const char* text =
    R"({"seed": 1, "slo": null, "pools": [{"engine": {"max": 4}}, {"engine": {}}], "name": "x"})";

std::string with(const char* path, const char* value) {
  Document d = Document::parse(text, "t.json");
  d.set(path, value, std::string("--set ") + path + "=" + value);
  return d.root().json();
}
Diagnostic failure(std::string document, const std::string& path, const std::string& value) {
  Document d = Document::parse(std::move(document), "t.json");
  try {
    d.set(path, value, "--set " + path);
  } catch (const InputError& error) {
    return error.diagnostics().front();
  }
  return {};
}

}  // namespace

TEST_CASE("an override replaces scalars and objects and list elements in place") {
  CHECK(with("seed", "2") ==
        R"({"seed":2,"slo":null,"pools":[{"engine":{"max":4}},{"engine":{}}],"name":"x"})");
  CHECK(with("pools.0.engine.max", "8") ==
        R"({"seed":1,"slo":null,"pools":[{"engine":{"max":8}},{"engine":{}}],"name":"x"})");
  CHECK(with("pools.1", "{\"a\": [1]}") ==
        R"({"seed":1,"slo":null,"pools":[{"engine":{"max":4}},{"a":[1]}],"name":"x"})");
  CHECK(with("/pools/0/engine/max", "8") == with("pools.0.engine.max", "8"));
}

TEST_CASE("an override makes the objects on its way") {
  CHECK(
      with("slo.ttft_ms", "500") ==
      R"({"seed":1,"slo":{"ttft_ms":500},"pools":[{"engine":{"max":4}},{"engine":{}}],"name":"x"})");
  CHECK(with("a.b.c", "true").find(R"("a":{"b":{"c":true}})") != std::string::npos);
  CHECK(with("/a.b/c~1d", "1").find(R"("a.b":{"c/d":1})") != std::string::npos);
}

TEST_CASE("a value that is not JSON is a string") {
  CHECK(with("name", "chat").find(R"("name":"chat")") != std::string::npos);
  CHECK(with("name", "80GiB").find(R"("name":"80GiB")") != std::string::npos);
  CHECK(with("name", "").find(R"("name":"")") != std::string::npos);
  CHECK(with("name", "\"12\"").find(R"("name":"12")") != std::string::npos);
  CHECK(with("name", "[1,").find(R"("name":"[1,")") != std::string::npos);
}

TEST_CASE("values from an override blame the override") {
  Document d = Document::parse(text, "t.json");
  d.set("pools.0.engine", "{\"max\": [1, \"x\"]}", "--set pools.0.engine=...");
  const Value bad = d.root().find("pools").at(0).find("engine").find("max").at(1);
  CHECK(bad.origin() == "--set pools.0.engine=...");
  CHECK(bad.pointer() == "/pools/0/engine/max/1");
  CHECK(bad.diagnostic("c", "m").file == "--set pools.0.engine=...");
  CHECK(bad.diagnostic("c", "m").line == 0);
  d.set("new.key", "1", "--set new.key=1");
  CHECK(d.root().find("new").key_diagnostic("c", "m").file == "--set new.key=1");
  CHECK(d.root().find("seed").origin() == "t.json:1:10");
}

TEST_CASE("later overrides see what earlier ones made") {
  Document d = Document::parse(text, "t.json");
  d.set("extra", "{\"list\": [10, 20]}", "a");
  d.set("extra.list.1", "30", "b");
  CHECK(d.root().find("extra").json() == R"({"list":[10,30]})");
  CHECK(d.root().find("extra").find("list").at(1).origin() == "b");
}

TEST_CASE("a path that leads nowhere is refused") {
  CHECK(failure(text, "pools.2.engine", "1").message.find("2 elements") != std::string::npos);
  CHECK(failure(text, "pools.-1", "1").code == "set-path");
  CHECK(failure(text, "pools.first", "1").code == "set-path");
  CHECK(failure(text, "seed.x", "1").message.find("/seed is not an object") != std::string::npos);
  CHECK(failure(text, "name.x", "1").code == "set-path");
  for (const char* path : {"", ".", "a..b", ".a", "a.", "/", "//a"}) {
    CAPTURE(path);
    CHECK(failure(text, path, "1").code == "set-path");
  }
  CHECK(failure("3", "a", "1").code == "set-path");
  CHECK(failure("[1]", "a", "1").code == "set-path");
}

TEST_CASE("an override is as strict as a file") {
  CHECK(failure(text, "seed", "{\"a\":1,\"a\":2}").code == "json-duplicate-key");
  CHECK(failure(text, "pools.0", "{\"a\":1,\"a\":2}").pointer == "/pools/0/a");
  CHECK(failure(text, "name", "b\xff").code == "set-path");
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  CHECK(failure(text, deep, "1").code == "set-path");
}
