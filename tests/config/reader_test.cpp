#include "config/reader.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "config/sample.h"

using namespace kvsim;
using namespace kvsim::config;
using sample::Sample;

namespace {

struct Outcome {
  Sample value;
  std::vector<Diagnostic> problems;
  Origins origins;
};

Outcome read_sample(const std::string& members,
                    const std::string& part = R"("part": {"name": "p"})") {
  const Document d = Document::parse(
      "{" + part + (part.empty() || members.empty() ? "" : ", ") + members + "}", "t.json");
  Outcome out;
  Diagnostics diagnostics;
  read(d.root(), out.value, diagnostics, {}, &out.origins);
  out.problems = diagnostics.list();
  return out;
}
// "code message" of the only problem, or how many there are.
std::string problem(const std::string& members,
                    const std::string& part = R"("part": {"name": "p"})") {
  const auto out = read_sample(members, part);
  if (out.problems.size() != 1) return std::to_string(out.problems.size()) + " problems";
  return out.problems[0].code + " " + out.problems[0].message;
}

}  // namespace

TEST_CASE("a field of every kind is read") {
  const auto out = read_sample(
      R"("flag": true, "big": 1000000000000, "small": 7, "ratio": 1, "title": "t", "size": "80GiB",
    "wait": "20us", "speed": "450GB/s", "model": {"base": "x"}, "integers": [1, 2], "numbers": [1, 2.5], "words": ["a", "b"],
    "mode": "fast", "limit": 3, "spare": {"name": "s", "count": 9}, "parts": [{"name": "a"}, {"name": "b", "count": 2}])");
  CHECK(out.problems.empty());
  const Sample& s = out.value;
  CHECK(s.flag);
  CHECK(s.big == 1'000'000'000'000);
  CHECK(s.small == 7);
  CHECK(s.ratio == 1);
  CHECK(s.title == "t");
  CHECK(s.size == Bytes(80 * gib));
  CHECK(s.wait == Duration(20'000));
  CHECK(s.speed == Bandwidth(450e9));
  CHECK(s.model.json == R"({"base":"x"})");
  CHECK(s.model.pointer == "/model");
  CHECK(s.model.origin.starts_with("t.json:2:"));
  CHECK(s.integers == std::vector<std::int64_t>{1, 2});
  CHECK(s.numbers == std::vector<double>{1, 2.5});
  CHECK(s.words == std::vector<std::string>{"a", "b"});
  CHECK(s.mode == sample::Mode::fast);
  CHECK(s.limit == 3);
  REQUIRE(s.spare);
  CHECK(s.spare->count == 9);
  CHECK(s.part.name == "p");
  CHECK(s.part.count == 3);
  REQUIRE(s.parts.size() == 2);
  CHECK(s.parts[1].count == 2);
}

TEST_CASE("absent fields keep their defaults and null unsets an optional") {
  const auto out = read_sample(R"("limit": null, "spare": null)");
  CHECK(out.problems.empty());
  CHECK(!out.value.limit);
  CHECK(!out.value.spare);
  CHECK(out.value.big == 5);
  CHECK(out.value.size == Bytes(1024));
  CHECK(out.value.mode == sample::Mode::slow);
}

TEST_CASE("quantities may be plain numbers in base units") {
  const auto out = read_sample(R"("size": 4096, "wait": 0.25, "speed": 5e8)");
  CHECK(out.problems.empty());
  CHECK(out.value.size == Bytes(4096));
  CHECK(out.value.wait == to_duration(0.25));
  CHECK(out.value.speed == Bandwidth(5e8));
}

TEST_CASE("a value of the wrong kind is refused with what was expected and found") {
  CHECK(problem(R"("flag": 1)") == "wrong-type flag: expected true or false, found 1");
  CHECK(problem(R"("big": "many")") == "wrong-type big: expected a whole number, found \"many\"");
  CHECK(problem(R"("big": 3.7)") == "wrong-type big: expected a whole number, found 3.7");
  CHECK(problem(R"("big": 3.0)") == "wrong-type big: expected a whole number, found 3.0");
  CHECK(problem(R"("big": null)") == "wrong-type big: expected a whole number, found null");
  CHECK(problem(R"("ratio": "x")") == "wrong-type ratio: expected a number, found \"x\"");
  CHECK(problem(R"("title": 5)") == "wrong-type title: expected a string, found 5");
  CHECK(problem(R"("part": [])", "") == "wrong-type part: expected an object, found a list");
  CHECK(problem(R"("parts": {})") == "wrong-type parts: expected a list, found an object");
  CHECK(problem(R"("parts": [3])") == "wrong-type expected an object, found 3");
  CHECK(problem(R"("words": ["a", 1])") == "wrong-type words: expected a string, found 1");
  CHECK(problem(R"("numbers": 1)") == "wrong-type numbers: expected a list, found 1");
  CHECK(problem(R"("wait": "1 parsec")").starts_with("wrong-type wait: expected a time"));
  CHECK(problem(R"("size": 1.5)").starts_with("wrong-type size: expected a size"));
  CHECK(problem(R"("speed": "1 GB")").starts_with("wrong-type speed: expected a bandwidth"));
  CHECK(problem(R"("mode": 1)") == "wrong-type mode: expected one of fast, slow, found 1");
}

TEST_CASE("a value outside its range is refused with the range") {
  CHECK(problem(R"("small": -1)") ==
        "out-of-range small must be from 0 up to 2147483647, found -1");
  CHECK(problem(R"("small": 2147483648)").starts_with("out-of-range small"));
  CHECK(problem(R"("big": 9223372036854775808)").starts_with("out-of-range big"));
  CHECK(problem(R"("ratio": 0)") == "out-of-range ratio must be above 0 up to 1, found 0");
  CHECK(problem(R"("ratio": 1.7)").starts_with("out-of-range"));
  CHECK(problem(R"("size": -5)") == "out-of-range size must be at least 0 bytes, found -5");
  CHECK(problem(R"("wait": "0s")") == "out-of-range wait must be above 0 seconds, found \"0s\"");
  CHECK(problem(R"("speed": 0)").starts_with("out-of-range speed"));
  CHECK(problem(R"("integers": [1, -2])").starts_with("out-of-range integers"));
  CHECK(problem(R"("limit": -1)").starts_with("out-of-range limit"));
}

TEST_CASE("an unknown key is refused with the nearest known one") {
  const auto out = read_sample(R"("titel": "x")");
  REQUIRE(out.problems.size() == 1);
  CHECK(out.problems[0].code == "unknown-key");
  CHECK(out.problems[0].hint == "did you mean \"title\"?");
  CHECK(out.problems[0].pointer == "/titel");
  CHECK(out.problems[0].column == 25);
  CHECK(problem(R"("part": {"name": "p", "cuont": 1})", "") == "unknown-key unknown key \"cuont\"");
  CHECK(problem(R"("parts": [{"name": "a", "x": 1}])") == "unknown-key unknown key \"x\"");
}

TEST_CASE("a hundred thousand unknown keys are counted in one line") {
  std::string members = "\"u0\": 0";
  for (int i = 1; i < 100'000; ++i) members += ",\"u" + std::to_string(i) + "\": 0";
  const auto out = read_sample(members);
  REQUIRE(out.problems.size() == 21);
  CHECK(out.problems.back().message == "99980 more unknown keys");
}

TEST_CASE("an unknown word is refused with the nearest one") {
  const auto out = read_sample(R"("mode": "slwo")");
  REQUIRE(out.problems.size() == 1);
  CHECK(out.problems[0].message == "unknown mode \"slwo\"");
  CHECK(out.problems[0].hint == "did you mean \"slow\"?");
}

TEST_CASE("a missing required field points at the object that lacks it") {
  const auto out = read_sample("\"spare\": {}");
  REQUIRE(out.problems.size() == 1);
  CHECK(out.problems[0].code == "missing-field");
  CHECK(out.problems[0].pointer == "/spare/name");
  CHECK(out.problems[0].file == "t.json");
  CHECK(out.problems[0].line == 1);
  CHECK(problem("", "") == "missing-field required field \"part\" is missing: the part");
}

TEST_CASE("an alias stands for its field and two names at once are refused") {
  CHECK(read_sample(R"("huge": 9)").value.big == 9);
  CHECK(read_sample(R"("cap": 2)").value.limit == 2);
  CHECK(problem(R"("big": 1, "large": 2)") == "two-names \"big\" and \"large\" are the same field");
  CHECK(problem(R"("limit": 1, "cap": 2)") == "two-names \"limit\" and \"cap\" are the same field");
}

TEST_CASE("all problems of a file are reported together") {
  const auto out = read_sample(R"("flag": 1, "big": -1, "oops": 2, "mode": "x")");
  CHECK(out.problems.size() == 4);
}

TEST_CASE("origins say where each value came from") {
  const auto out = read_sample(R"("small": 2)");
  const auto origin = [&](const std::string& pointer) {
    const auto& e = out.origins.entries;
    const auto found =
        std::ranges::find_if(e, [&](const auto& entry) { return entry.pointer == pointer; });
    return found == e.end() ? std::string("none") : found->origin;
  };
  CHECK(origin("/small") == "t.json:1:34");
  CHECK(origin("/big") == "default");
  CHECK(origin("/limit") == "default");
  CHECK(origin("/part/count") == "default");
  CHECK(origin("/part/name") == "t.json:1:19");
}

TEST_CASE("a document that is not an object is one problem") {
  const Document d = Document::parse("[1]", "t.json");
  Sample s;
  Diagnostics diagnostics;
  auto reader = make_reader(d.root(), diagnostics);
  finish(*reader);
  REQUIRE(diagnostics.size() == 1);
  CHECK(diagnostics.list()[0].message == "expected an object, found a list");
}

TEST_CASE("the schema line must be there and be the one wanted") {
  const auto check = [](const char* text) {
    const Document d = Document::parse(text, "t.json");
    Diagnostics diagnostics;
    check_schema(d.root(), "kvsim.scenario/1", diagnostics);
    return diagnostics.size() == 0 ? std::string() : diagnostics.list()[0].code;
  };
  CHECK(check(R"({"schema": "kvsim.scenario/1"})").empty());
  CHECK(check(R"({"schema": "kvsim.scenario/999"})") == "schema-version");
  CHECK(check(R"({"schema": "kvsim.result/1"})") == "schema-wrong");
  CHECK(check(R"({"schema": 1})") == "schema-wrong");
  CHECK(check(R"({"name": "x"})") == "schema-missing");
}
