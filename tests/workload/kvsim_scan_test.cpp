#include <doctest/doctest.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "random/stream.h"
#include "workload/io/lines.h"
#include "workload/trace/kvsim_line.h"

using namespace kvsim;
using namespace kvsim::workload;

namespace {

// A line with any subset of the keys in any order, most of them right.
std::string some_line(random::Stream& draw) {
  const auto pick = [&](std::initializer_list<const char*> options) {
    if (draw.uniform() < 0.7) return std::string(*options.begin());
    return std::string(
        options.begin()[draw.uniform_integer(0, static_cast<std::int64_t>(options.size()) - 1)]);
  };
  std::string members[] = {
      "\"id\":" + pick({"\"a\"", "\"r 1\"", "\"\"", "7", "\"\\u0041\"", "\"\xc3\xa9\""}),
      "\"arrival_s\":" + pick({"0", "0.5", "12.000000001", "1e3", "1E-2", "-1", "1e300", "01", "1.",
                               "null", "-0.0"}),
      "\"prompt\": [" +
          pick({"[\"x\",5]", "[\"x\", 5, 7] , [\"y\",1]", "[\"x\",5],[\"x\",5,5]", "[\"x\",5,-0]",
                "[\"x\"]", "[\"x\",5.0]", "", "[\"x\",1e3]"}) +
          "]",
      "\"output_tokens\":" + pick({"1", "16", "0", "\"1\"", "1000000000", "1000000001"}),
      "\"max_tokens\":" + pick({"1", "99", "9999999999999999999"}),
      "\"priority\":" + pick({"0", "-5", "2147483648"}),
      "\"salt\":" + pick({"\"s\"", "\"\"", "null"}),
      "\"adapter\":" + pick({"\"l\"", "\"\"", "4"}),
      "\"session\":" + pick({"\"chat\"", "3"}),
      "\"after\":" + pick({"\"b\"", "\"\""}),
      "\"think_s\":" + pick({"2.5", "-1", "0"}),
  };
  std::string line = pick({"{", " { ", "{\t"});
  bool first = true;
  for (std::size_t i = 0; i < std::size(members); ++i) {
    std::swap(
        members[i],
        members[static_cast<std::size_t>(draw.uniform_integer(static_cast<std::int64_t>(i), 10))]);
    const bool needed = members[i].starts_with("\"id") || members[i].starts_with("\"prompt") ||
                        members[i].starts_with("\"arr");
    if (draw.uniform() < (needed ? 0.03 : 0.5)) continue;
    line += (first ? "" : ",") + members[i];
    first = false;
  }
  line += pick({"}", "} ", "},", ""});
  if (draw.uniform() < 0.2 && !line.empty())
    line[static_cast<std::size_t>(
        draw.uniform_integer(0, static_cast<std::int64_t>(line.size()) - 1))] =
        static_cast<char>(draw.uniform_integer(32, 126));
  return line;
}

bool same(const KvsimLine& a, const KvsimLine& b) {
  return a.id == b.id && a.session == b.session && a.after == b.after && a.arrival == b.arrival &&
         a.prompt == b.prompt && a.prompt_tokens == b.prompt_tokens &&
         a.output_tokens == b.output_tokens && a.max_tokens == b.max_tokens &&
         a.priority == b.priority && a.salt == b.salt && a.adapter == b.adapter &&
         a.think == b.think && a.has_after == b.has_after && a.id_column == b.id_column &&
         a.after_column == b.after_column && a.arrival_column == b.arrival_column;
}

}  // namespace

TEST_CASE("the fast reader of request lines takes a line only as the strict one does") {
  int fast = 0, good = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    random::Stream draw(1, "lines", i);
    const std::string text = some_line(draw);
    INFO(text);
    Lines lines(bytes_of(text, "t"), "t");
    std::string_view line;
    lines.next(line);
    KvsimLine strict, quick;
    std::vector<Diagnostic> problems;
    const bool valid = read_kvsim_line(lines, line, strict, problems);
    good += valid;
    if (!scan_kvsim_line(line, quick)) continue;
    ++fast;
    REQUIRE(valid);
    REQUIRE(same(strict, quick));
  }
  MESSAGE(fast, " of ", good, " valid lines were read by the fast reader");
  CHECK(fast > 200);
  CHECK(fast * 10 > good * 6);
}
