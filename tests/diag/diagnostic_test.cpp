#include "diag/diagnostic.h"

#include <doctest/doctest.h>

using namespace kvsim;

TEST_CASE("a diagnostic shows the place and the line and a caret under the value") {
  Diagnostic d;
  d.message = "expected a whole number, found \"many\"";
  d.file = "s.json", d.line = 14, d.column = 6, d.pointer = "/a/b", d.hint = "write 16",
  d.width = 6;
  d.source_line = "\"a\": \"many\",";
  CHECK(to_text(d) ==
        "error: expected a whole number, found \"many\"\n"
        "  --> s.json:14:6   /a/b\n"
        "   |   14 | \"a\": \"many\",\n"
        "   |      |      ^^^^^^ write 16\n");
}

TEST_CASE("a diagnostic without a line still names its file and hint") {
  Diagnostic d;
  d.severity = Severity::warning, d.message = "m", d.file = "--set a.b", d.hint = "h";
  CHECK(to_text(d) == "warning: m\n  --> --set a.b\n   h\n");
  d.file.clear(), d.hint.clear(), d.pointer = "/x";
  CHECK(to_text(d) == "warning: m\n  --> /x\n");
  d.pointer.clear(), d.severity = Severity::note;
  CHECK(to_text(d) == "note: m\n");
}

TEST_CASE("a line too long for a terminal is not shown but its hint is") {
  Diagnostic d;
  d.message = "m", d.file = "f", d.line = 1, d.column = 200, d.hint = "h",
  d.source_line = std::string(161, 'x');
  CHECK(to_text(d) == "error: m\n  --> f:1:200\n   h\n");
}

TEST_CASE("an input error carries every diagnostic in its text") {
  Diagnostics all;
  all.error("a", "first");
  all.warning("b", "second", "hint");
  CHECK(all.has_errors());
  CHECK(all.size() == 2);
  try {
    all.throw_if_errors();
    FAIL("nothing was thrown");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().size() == 2);
    CHECK(std::string(error.what()) == "error: first\nwarning: second\n   hint\n");
  }
}

TEST_CASE("warnings alone do not throw") {
  Diagnostics all;
  all.warning("b", "careful");
  CHECK(!all.has_errors());
  CHECK_NOTHROW(all.throw_if_errors());
}

TEST_CASE("a million problems are counted but not kept") {
  Diagnostics all;
  for (int i = 0; i < 1'000'000; ++i) all.warning("w", "x");
  CHECK(all.size() == 1'000'000);
  CHECK(all.list().size() == Diagnostics::kept);
  CHECK(!all.has_errors());
  all.error("e", "the only error comes last");
  CHECK(all.has_errors());
  try {
    all.throw_if_errors();
    FAIL("nothing was thrown");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().back().message == "999001 more problems");
  }
}

TEST_CASE("an input-output error names the path as the user wrote it") {
  const IoError error("../x.json", "cannot be opened");
  CHECK(error.path() == "../x.json");
  CHECK(std::string(error.what()) == "../x.json: cannot be opened");
}
