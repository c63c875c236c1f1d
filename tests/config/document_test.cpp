#include "config/document.h"

#include <doctest/doctest.h>

#include <chrono>
#include <functional>

using namespace kvsim;
using namespace kvsim::config;

namespace {

Diagnostic failure(std::string text, Comments comments = Comments::forbidden) {
  try {
    Document::parse(std::move(text), "t.json", comments);
  } catch (const InputError& error) {
    return error.diagnostics().front();
  }
  return {};
}
std::string place(const Diagnostic& d) {
  return std::to_string(d.line) + ":" + std::to_string(d.column) + "+" + std::to_string(d.width);
}
std::string place(const Value& v) { return place(v.diagnostic("c", "m")); }
std::string key_place(const Value& v) { return place(v.key_diagnostic("c", "m")); }
double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("every token knows its line and column and width") {
  const Document d = Document::parse(
      "{\"a\": 12,\n \"b\\\"c\" : [true, null,\n\t-1.5e3, \"x\\u00e9\\\\\"],\r\n \"d\":{}}",
      "t.json");
  const Value root = d.root();
  CHECK(place(root) == "1:1+9");
  CHECK(place(root.find("a")) == "1:7+2");
  CHECK(key_place(root.find("a")) == "1:2+3");
  const Value list = root.find("b\"c");
  REQUIRE(list.exists());
  CHECK(key_place(list) == "2:2+6");
  CHECK(place(list.at(0)) == "2:12+4");
  CHECK(place(list.at(1)) == "2:18+4");
  CHECK(place(list.at(2)) == "3:2+6");
  CHECK(place(list.at(3)) == "3:10+11");
  CHECK(list.at(3).string() == "x\u00e9\\");
  CHECK(place(root.find("d")) == "4:6+2");
  CHECK(list.at(2).pointer() == "/b\"c/2");
  CHECK(list.at(2).origin() == "t.json:3:2");
  CHECK(list.at(2).diagnostic("c", "m").source_line == " -1.5e3, \"x\\u00e9\\\\\"],");
}

TEST_CASE("pointers escape what RFC 6901 reserves") {
  const Document d = Document::parse(R"({"a/b": {"m~n": [0, {"": 5}]}})", "t.json");
  CHECK(d.root().find("a/b").find("m~n").at(1).find("").pointer() == "/a~1b/m~0n/1/");
  CHECK(d.root().pointer().empty());
}

TEST_CASE("a byte order mark does not shift positions") {
  const Document d = Document::parse("\xEF\xBB\xBF{\"a\": 1}", "t.json");
  CHECK(place(d.root().find("a")) == "1:7+1");
  CHECK(key_place(d.root().find("a")) == "1:2+3");
}

TEST_CASE("positions stay right behind comments of both kinds") {
  const Document d = Document::parse(
      "// one, \"two\"\n{ /* \"x\": 1,\n */ \"a\": /**/ 3 // end\r, \"b\": 4 // \"\n}", "t.json",
      Comments::allowed);
  CHECK(place(d.root().find("a")) == "3:15+1");
  CHECK(place(d.root().find("b")) == "3:31+1");
}

TEST_CASE("comments are refused where they are not allowed") {
  CHECK(failure("{} // x").code == "json-syntax");
  CHECK(failure("/* x */ {}").code == "json-syntax");
  CHECK(failure("{} /* never closed", Comments::allowed).code == "json-syntax");
}

TEST_CASE("duplicate keys are refused at their second appearance") {
  const Diagnostic d = failure("{\"x\": {\"seed\": 1,\n \"seed\": 2}}");
  CHECK(d.code == "json-duplicate-key");
  CHECK(place(d) == "2:2+6");
  CHECK(d.pointer == "/x/seed");
  CHECK(failure(R"({"a": 1, "\u0061": 2})").code == "json-duplicate-key");
  std::string many = "{\"k0\": 0";
  for (int i = 1; i < 40; ++i) many += ",\"k" + std::to_string(i) + "\": 0";
  CHECK(failure(many + "}").code.empty());
  CHECK(failure(many + ",\"k3\": 0}").code == "json-duplicate-key");
  CHECK(failure(many + ",\"k39\": 0}").code == "json-duplicate-key");
  CHECK(failure(R"([{"a": 1}, {"a": 2, "b": {"a": 3}}])").code.empty());
}

TEST_CASE("numbers that JSON does not know are refused") {
  for (const char* text : {"NaN", "{\"a\": NaN}", "[Infinity]", "[-Infinity]", "[1e400]", "[+1]",
                           "[01]", "[.5]", "[1.]", "[0x10]"}) {
    CAPTURE(text);
    CHECK(failure(text).code == "json-syntax");
    CHECK(failure(text).line == 1);
  }
}

TEST_CASE("integers keep their kind and those beyond int64 are kept apart") {
  const Document d = Document::parse(
      "[9223372036854775807, -9223372036854775808, 9223372036854775808, 18446744073709551616, "
      "-9223372036854775809, 3.7, 1e3, -0]",
      "t");
  const Value r = d.root();
  CHECK(r.at(0).integer() == INT64_MAX);
  CHECK(r.at(1).integer() == INT64_MIN);
  for (const std::size_t i : {2u, 3u, 4u}) {
    CHECK(r.at(i).kind() == Kind::number);
    CHECK(r.at(i).is_oversized_integer());
  }
  CHECK(r.at(2).number() == 0x1p63);
  CHECK(r.at(5).kind() == Kind::number);
  CHECK(!r.at(5).is_oversized_integer());
  CHECK(!r.at(6).is_oversized_integer());
  CHECK(r.at(7).kind() == Kind::integer);
}

TEST_CASE("text that is no JSON document is refused with a position") {
  CHECK(failure("").code == "json-empty");
  CHECK(failure(" \n\t ").code == "json-empty");
  for (const char* text : {"{\"a\": \"b\xff\xfe\"}", "{\"a\": 1", "[1, 2", "{\"a\": 1}{\"a\": 1}",
                           "[] []", "{\"a\" 1}", "{a: 1}", "[1,]", "\xEF\xBB\xBF",
                           "{\"a\": \"\n\"}", "'a'", "{\"a\": \"\\x\"}", "[\"\\ud800\"]", "nul"}) {
    CAPTURE(text);
    const Diagnostic d = failure(text);
    CHECK(d.code == "json-syntax");
    CHECK(d.line >= 1);
    CHECK(d.column >= 1);
  }
  CHECK(failure("{\"a\": 1,\n  \"b\" 2}").line == 2);
}

TEST_CASE("a zero byte does not end a document silently") {
  CHECK(failure(std::string("{\"a\": 1}\0 garbage", 17)).code == "json-syntax");
  CHECK(failure(std::string("{\"a\": 1}\0", 9)).column == 9);
  CHECK(failure(std::string("// note\0 3", 10), Comments::allowed).code == "json-syntax");
}

TEST_CASE("200000 nested brackets are refused at once") {
  const double t = seconds([] {
    CHECK(failure(std::string(200'000, '[')).code == "json-depth");
    std::string objects = "{\"schema\":\"kvsim.scenario/1\",\"name\":";
    for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
    CHECK(failure(objects).code == "json-depth");
  });
  CHECK(t < 2);
  CHECK(failure(std::string(100, '[') + std::string(100, ']')).code.empty());
}

TEST_CASE("reading costs time in proportion to the text") {
  std::string list = "[0";
  for (int i = 1; i < 200'000; ++i) list += ",\n" + std::to_string(i);
  list += "]";
  std::string object = "{\"k0\":0";
  for (int i = 1; i < 100'000; ++i) object += ",\"k" + std::to_string(i) + "\":0";
  object += "}";
  // A quadratic reader takes minutes here.
  const double t = seconds([&] {
    const Document d = Document::parse(list, "t");
    std::size_t lines = 0;
    for (std::size_t i = 0; i < d.root().size(); ++i)
      lines += static_cast<std::size_t>(d.root().at(i).diagnostic("c", "m").line);
    CHECK(lines == 200'000ull * 200'001 / 2);
    CHECK(d.root().at(199'999).pointer() == "/199999");
    CHECK(Document::parse(object, "t").root().size() == 100'000);
  });
  CHECK(t < 20);
}

TEST_CASE("a line of a JSON-lines file reports its own number") {
  const Document d = Document::parse_line("{\"a\": 1}", "t.jsonl", 17);
  CHECK(place(d.root().find("a")) == "17:7+1");
  try {
    Document::parse_line("{\"a\": ", "t.jsonl", 18);
    FAIL("half a line was accepted");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().line == 18);
  }
}

TEST_CASE("values are described and written back as JSON") {
  const Document d = Document::parse(R"({"a": [1, 2.5, "x\"", null, true], "b": {"c": -1}})", "t");
  CHECK(d.root().json() == R"({"a":[1,2.5,"x\"",null,true],"b":{"c":-1}})");
  CHECK(d.root().find("a").describe() == "a list");
  CHECK(d.root().describe() == "an object");
  CHECK(d.root().find("a").at(2).describe() == R"("x\"")");
  CHECK(d.root().find("b").find("c").describe() == "-1");
  CHECK(!d.root().find("z").exists());
}

TEST_CASE("a file that cannot be read is an input-output error that names it") {
  CHECK_THROWS_AS(Document::load("no/such/file.json"), IoError);
  CHECK_THROWS_AS(Document::load("."), IoError);
  CHECK_THROWS_AS(write_file("no/such/folder/x.json", "{}"), IoError);
}

TEST_CASE("a written file is whole and leaves no temporary file behind") {
  const std::string path = std::string(KVSIM_BINARY_DIR) + "/written_by_document_test.json";
  write_file(path, "{\"a\": 1}\n");
  write_file(path, "{\"a\": 2}\n");
  CHECK(read_file(path) == "{\"a\": 2}\n");
  CHECK(Document::load(path).root().find("a").integer() == 2);
  CHECK(std::remove(path.c_str()) == 0);
}

TEST_CASE("digests are 32 hexadecimal digits that never change") {
  CHECK(digest("") == "99aa06d3014798d86001c324468d497f");
  CHECK(digest("kvsim") != digest("kvsim "));
  CHECK(digest("kvsim").size() == 32);
}
