#include "report/table.h"

#include <doctest/doctest.h>

using kvsim::report::Align;
using kvsim::report::Table;

TEST_CASE("a table aligns its columns and leaves no trailing blanks") {
  Table t({{"context", Align::right}, {"dtype"}, {"requests", Align::right}});
  t.row({"2,048", "bfloat16", "436"});
  t.rule();
  t.row({"131,072", "int4", "27"});
  CHECK(t.text(2) ==
        "  context  dtype     requests\n"
        "    2,048  bfloat16       436\n"
        "  ---------------------------\n"
        "  131,072  int4            27\n");
}

TEST_CASE("a table without titles has no title line") {
  Table t({{""}, {"", Align::right}});
  t.row({"weights", "15.0 GiB"});
  CHECK(t.text() == "weights  15.0 GiB\n");
}

TEST_CASE("a table counts code points and not bytes") {
  Table t({{"x"}, {"y"}});
  t.row({"\xE2\x96\x81\xE2\x96\x82", "a"});
  t.row({"ab", "b"});
  CHECK(t.text() == "x   y\n\xE2\x96\x81\xE2\x96\x82  a\nab  b\n");
}

TEST_CASE("a table too wide breaks its widest text column at blanks") {
  Table t({{"name"}, {"meaning"}});
  t.row({"a", "one two three four five six seven"});
  const std::string text = t.text(0, 24);
  CHECK(text ==
        "name  meaning\n"
        "a     one two three four\n"
        "      five six seven\n");
}
