#include "report/plan_sources.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/table.h"

namespace kvsim::report {
namespace {

using nlohmann::ordered_json;

std::string set_text(const launch::Setting& s) {
  return s.value.empty() ? s.flag : s.flag + " " + s.value;
}

ordered_json leftovers(const std::vector<launch::Leftover>& list, const char* reason) {
  ordered_json out = ordered_json::array();
  for (const launch::Leftover& l : list) out.push_back({{"words", l.words}, {reason, l.why}});
  return out;
}

}  // namespace

std::string settings_text(const launch::Translation& flags) {
  Table t({{"", Align::left}, {"", Align::left}});
  if (!flags.model.empty()) t.row({"MODEL " + flags.model, ""});
  for (const launch::Setting& s : flags.settings)
    t.row({set_text(s),
           s.from == set_text(s) && !s.overridden
               ? ""
               : fmt::format("from {}{}", s.from,
                             s.overridden ? "; kvsim's own flag is taken instead" : "")});
  if (!flags.neutral.empty())
    t.row({"(no effect on memory)", fmt::format("{}", fmt::join(flags.neutral, ", "))});
  return t.text(2, 130);
}

std::string settings_json(const launch::Translation& flags) {
  ordered_json taken = ordered_json::array();
  for (const launch::Setting& s : flags.settings)
    taken.push_back({{"flag", s.flag},
                     {"value", s.value.empty() ? ordered_json(nullptr) : ordered_json(s.value)},
                     {"from", s.from},
                     {"line", s.line},
                     {"overridden", s.overridden}});
  ordered_json doc{{"model", flags.model},
                   {"taken", std::move(taken)},
                   {"no_effect", flags.neutral},
                   {"not_modelled", leftovers(flags.unmodelled, "touches")},
                   {"unknown", leftovers(flags.unknown, "hint")}};
  return doc.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string from_command_text(const launch::Command& c) {
  return fmt::format("Taken from the command ({})\n", c.program) + settings_text(c.flags);
}

std::string from_command_json(const launch::Command& c) {
  ordered_json doc{{"program", c.program}, {"engine", c.engine}};
  doc.update(ordered_json::parse(settings_json(c.flags)));
  return doc.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace kvsim::report
