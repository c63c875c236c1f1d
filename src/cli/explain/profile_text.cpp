#include "cli/explain/profile_text.h"

#include <fmt/format.h>

#include "config/document.h"
#include "report/wrap.h"

namespace kvsim::cli {

std::string profile_text(const engine::ProfileEntry& profile, const Context& context) {
  constexpr std::size_t columns = 99;
  std::string out =
      fmt::format("{} (engine profile)\n", context.paint(std::string(profile.name), Ink::bold));
  out += report::wrap(fmt::format("  {}", profile.summary), columns, 2);
  out += report::wrap(fmt::format("  read from: {}", profile.version), columns, 4);
  out += fmt::format("  memory rules of: {}\n", profile.engine);
  int number = 0;
  for (const engine::ProfileRule& rule : profile.rules) {
    out += report::wrap(fmt::format("  {:2}. {}", ++number, rule.rule), columns, 6);
    out += report::wrap(fmt::format("      [{}]", rule.source), columns, 6);
  }
  return out;
}

std::string profile_json(const engine::ProfileEntry& profile) {
  std::string rules;
  for (const engine::ProfileRule& rule : profile.rules)
    rules += fmt::format("{}\n  {{\"rule\": {}, \"source\": {}}}", rules.empty() ? "" : ",",
                         config::json_string(rule.rule), config::json_string(rule.source));
  return fmt::format(
      "{{\"schema\": \"kvsim.profile/1\", \"name\": {}, \"summary\": {}, \"version\": {}, "
      "\"engine\": {}, \"rules\": [{}\n]}}\n",
      config::json_string(profile.name), config::json_string(profile.summary),
      config::json_string(profile.version), config::json_string(profile.engine), rules);
}

}  // namespace kvsim::cli
