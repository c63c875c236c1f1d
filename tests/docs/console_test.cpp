#include "docs/console.h"

#include <doctest/doctest.h>

#include "cli/harness.h"

using kvsim::testing::console_commands;
using kvsim::testing::matches;
using kvsim::testing::run_page;

TEST_CASE("console blocks give commands with their lines and other blocks give none") {
  const auto commands = console_commands(
      "# Page\n```sh\n$ not this\n```\n```console\n$ first\nout\n\n$ cat <<E\n> a\n> "
      "E\na\n```\n```json\n{}\n```\n");
  REQUIRE(commands.size() == 2);
  CHECK(commands[0].line == 6);
  CHECK(commands[0].text == "first");
  CHECK(commands[0].expected == std::vector<std::string>{"out", ""});
  CHECK(commands[1].text == "cat <<E\na\nE");
  CHECK(commands[1].expected == std::vector<std::string>{"a"});
}

TEST_CASE("a console block without a command or without an end is refused") {
  CHECK_THROWS(console_commands("```console\nout\n```\n"));
  CHECK_THROWS(console_commands("```console\n$ x\n"));
}

TEST_CASE("three dots stand for lines or for a part of a line") {
  CHECK(matches({"a", "b"}, "a\nb\n"));
  CHECK(!matches({"a"}, "a\nb\n"));
  CHECK(!matches({"a", "b"}, "a\n"));
  CHECK(matches({"a", "..."}, "a\nb\nc\n"));
  CHECK(matches({"...", "c"}, "a\nb\nc\n"));
  CHECK(matches({"a", "...", "c"}, "a\nc\n"));
  CHECK(!matches({"a", "...", "d"}, "a\nb\nc\n"));
  CHECK(matches({"mean ... ms of ..."}, "mean 3.5 ms of 10\n"));
  CHECK(!matches({"mean ... s"}, "mean 3.5 m\n"));
  CHECK(matches({}, ""));
  CHECK(!matches({}, "a\n"));
}

TEST_CASE("a page with a wrong output or an unasked failure is found out") {
  const kvsim::test::Folder folder;
  const auto findings = [&](const std::string& page) {
    folder.write("page.md", "```console\n" + page + "```\n");
    return run_page((folder.path() / "page.md").string(), KVSIM_SOURCE_DIR, KVSIM_PROGRAM).size();
  };
  CHECK(findings("$ kvsim version\nkvsim ...\nreads ...\n") == 0);
  CHECK(findings("$ kvsim version\nkvsim 99\n") == 1);
  CHECK(findings("$ kvsim versio\nerror: ...\n...\n") == 1);
  CHECK(findings("$ kvsim versio\nerror: ...\n...\n$ echo $?\n2\n") == 0);
  CHECK(findings("$ kvsim version -o v.txt\n$ wc -l < v.txt\n2\n") == 0);
}
