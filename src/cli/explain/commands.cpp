#include <fmt/format.h>

#include "cli/commands/registry.h"
#include "cli/explain/topic.h"
#include "cli/globals.h"

namespace kvsim::cli {
namespace {

std::string flag_text(const FlagSpec& spec, std::string_view where) {
  std::string text = fmt::format("in: {}", where);
  if (spec.arity != Arity::none) text += fmt::format("\nvalue: {}", spec.value_name);
  if (!spec.choices.empty()) text += fmt::format(", one of {}", fmt::join(spec.choices, ", "));
  return text;
}

void add_flags(std::vector<Topic>& out, const Flags& flags, std::string_view where) {
  for (const FlagSpec& spec : flags.list())
    if (!spec.positional && !spec.is_hidden)
      out.push_back({"flag", spec.name, spec.doc, flag_text(spec, where)});
}

}  // namespace

void add_command_topics(std::vector<Topic>& out) {
  for (const CommandEntry& entry : commands())
    out.push_back({"command", std::string(entry.name), std::string(entry.summary),
                   fmt::format("kvsim help {} has its flags.", entry.name)});
  for (const CommandEntry& entry : commands()) {
    const auto command = entry.make();
    Flags flags;
    command->describe(flags);
    add_flags(out, flags, fmt::format("kvsim {}", entry.name));
  }
  Globals globals;
  Flags flags;
  describe(flags, globals);
  add_flags(out, flags, "every command");
}

}  // namespace kvsim::cli
