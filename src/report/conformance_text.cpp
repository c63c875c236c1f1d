#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/conformance.h"
#include "report/table.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using conform::Conformance;
using conform::Difference;
using Json = nlohmann::ordered_json;

constexpr std::size_t shown_text = 160;

std::string shortened(std::string text) {
  if (text.size() <= shown_text) return text;
  std::size_t end = shown_text - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// Both sides without what they agree on: of two maps the entries that differ, of two long lists
// what follows the first element that does.
void reduce(Json& expected, Json& got) {
  if (expected.is_object() && got.is_object()) {
    const Json want = expected, have = got;
    for (const auto& [key, value] : want.items())
      if (have.contains(key) && have[key] == value) expected.erase(key), got.erase(key);
  }
}

std::string where_lists_part(const Json& expected, const Json& got) {
  if (!expected.is_array() || !got.is_array()) return "";
  std::size_t i = 0;
  while (i < expected.size() && i < got.size() && expected[i] == got[i]) ++i;
  const auto element = [&](const Json& list) {
    return i < list.size() ? shortened(list[i].dump()) : std::string("nothing");
  };
  return fmt::format("  they part at element {}: {} recorded, {} from kvsim\n", i + 1,
                     element(expected), element(got));
}

std::string families(const Conformance& c) {
  Table t({{"family", Align::left},
           {"cases", Align::right},
           {"matched", Align::right},
           {"differ", Align::right},
           {"refused", Align::right}});
  std::int64_t refused = 0;
  for (const conform::FamilyResult& f : c.families) {
    t.row({f.name, format_integer(f.cases), format_integer(f.matched),
           format_integer(f.cases - f.matched - f.refused), format_integer(f.refused)});
    refused += f.refused;
  }
  if (c.families.size() > 1) {
    t.rule();
    t.row({"all", format_integer(c.cases()), format_integer(c.matched()),
           format_integer(c.cases() - c.matched() - refused), format_integer(refused)});
  }
  return t.text();
}

std::string difference(const Difference& d) {
  if (!d.reason.empty())
    return fmt::format("{}, case {} was refused for its {}\n  recorded  {}\n  reason    {}\n",
                       d.family, d.case_id, d.field.empty() ? "content" : d.field,
                       shortened(d.expected), d.reason);
  Json expected = Json::parse(d.expected), got = Json::parse(d.got);
  reduce(expected, got);
  return fmt::format("{}, case {} at {}, {}\n  recorded  {}\n  kvsim     {}\n", d.family, d.case_id,
                     d.at, d.field, shortened(expected.dump()), shortened(got.dump())) +
         where_lists_part(expected, got);
}

}  // namespace

std::string conformance_text(const Conformance& c) {
  std::string out = fmt::format("Recorded decisions replayed: {} of {} cases match\n\n",
                                format_integer(c.matched()), format_integer(c.cases()));
  out += families(c);
  if (!c.complete) out += "\nStopped: the counts are of what was replayed until then.\n";
  if (c.differences.empty()) {
    if (c.complete && c.cases() > 0)
      out += "\nIn every recorded step and operation kvsim did what the engine did.\n";
    return out;
  }
  out += c.differences.size() == 1 ? "\nFirst difference\n"
                                   : fmt::format("\nFirst {} differences\n", c.differences.size());
  for (const Difference& d : c.differences) out += difference(d);
  out += fmt::format(
      "\nNext: --only {} replays this case alone, --show N lists more cases that differ.\n",
      c.differences.front().case_id);
  return out;
}

}  // namespace kvsim::report
