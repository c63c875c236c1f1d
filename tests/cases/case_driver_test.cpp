#include <doctest/doctest.h>

#include <stdexcept>

#include "cases/case_check.h"
#include "cases/case_file.h"

using namespace kvsim::testing;

namespace {

std::vector<std::string> check(const std::string& expectation, const Outcome& outcome) {
  const Case test = parse_case("# t\nkvsim x\n" + expectation + "\n", "t.case");
  return check_outcome(test.name, test.commands.at(0), outcome);
}

const Outcome sample{
    0, R"({"n": 42, "x": 1.5, "s": "two words", "b": true, "z": null, "l": [1, {"a/b": 2}]})",
    "note: hm"};

}  // namespace

TEST_CASE("a case is a title and commands with what is expected of them") {
  const Case test = parse_case(
      "# A title\n"
      "plan llama --gpu h100-sxm\nexit 1\nexpect /fits == false\n\n# remark\n"
      "scenario tiny.json --set 'name=a b'\nexpect /summary/completed >= 3\n",
      "t.case");
  CHECK(test.title == "A title");
  REQUIRE(test.commands.size() == 2);
  CHECK(test.commands[0].arguments ==
        std::vector<std::string>{"plan", "llama", "--json", "--gpu", "h100-sxm"});
  CHECK(test.commands[0].exit_status == 1);
  CHECK(test.commands[1].arguments ==
        std::vector<std::string>{"run", "tiny.json", "--json", "--set", "name=a b"});
  CHECK(test.commands[1].expectations.at(0).line == 8);
}

TEST_CASE("expectations that hold are silent") {
  for (const char* line :
       {"expect /n == 42", "expect /n == 42.0", "expect /x within 1% of 1.51", "expect /n > 41",
        "expect /n >= 42", "expect /n < 43", "expect /n <= 42", "expect /n != 41",
        "expect /s == \"two words\"", "expect /b == true", "expect /z == null",
        "expect /l/1/a~1b == 2", "expect /l/0 < /n", "expect /q is missing",
        "expect /l/2 is missing", "stderr contains \"note\"", "stdout contains \"two words\"",
        "stderr does not contain \"error\""}) {
    CAPTURE(std::string(line));
    CHECK(check(line, sample).empty());
  }
}

TEST_CASE("expectations that fail are reported with their line") {
  for (const char* line :
       {"expect /n == 43", "expect /x within 1% of 1.6", "expect /n > 42", "expect /n >= 43",
        "expect /n < 42", "expect /n <= 41", "expect /n != 42", "expect /s == \"two\"",
        "expect /s == 42", "expect /b == false", "expect /z == 0", "expect /s < 3",
        "expect /q == 1", "expect /n == /q", "expect /n == /x", "expect /n is missing",
        "stderr contains \"error\"", "stdout does not contain \"two\"", "expect /n == 4 2"}) {
    CAPTURE(std::string(line));
    const auto findings = check(line, sample);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].rfind("t.case:3: ", 0) == 0);
  }
}

TEST_CASE("an exit status that was not announced is a finding") {
  CHECK(check("exit 3", sample).size() == 1);
  CHECK(check("stderr contains \"note\"", {3, "", "note"}).size() == 1);
  CHECK(check("exit 3", {3, "", ""}).empty());
}

TEST_CASE("output that is no JSON is a finding") {
  CHECK(check("expect /n == 42", {0, "hello", ""}).size() == 1);
}

TEST_CASE("a malformed case is refused with its line") {
  for (const char* text :
       {"plan x\nexpect /a == 1\n", "# t\n", "# t\nexpect /a == 1\n", "# t\nplan x\n",
        "# t\nplan\n", "# t\nplan x\nexpect a == 1\n", "# t\nplan x\nexpect /a ~ 1\n",
        "# t\nplan x\nexpect /a ==\n", "# t\nplan x\nexpect /a within 5 of 1\n",
        "# t\nplan x\nexit many\n", "# t\nplan x\nstderr contains error\n",
        "# t\nplan x\nstderr has \"error\"\n", "# t\nplan 'x\n", "# t\nplan x\nrun y\n"}) {
    CAPTURE(std::string(text));
    CHECK_THROWS_AS(parse_case(text, "t.case"), std::runtime_error);
  }
}

TEST_CASE("programs run without a shell and keep their streams apart") {
  const Outcome outcome =
      run_program({"/bin/sh", "-c", "cat; echo \"$1\" >&2; exit 5", "sh", "a b"}, "/", "given");
  CHECK(outcome.status == 5);
  CHECK(outcome.out == "given");
  CHECK(outcome.err == "a b\n");
  CHECK_THROWS_AS(run_program({"/no/such/program"}), std::runtime_error);
}
