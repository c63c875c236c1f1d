#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/registry.h"
#include "cli/globals.h"

namespace kvsim::cli {
namespace {

constexpr std::size_t width = 100;

// `text` broken at blanks so that lines indented by `indent` stay within the width.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out;
  std::size_t at = indent;
  while (!text.empty()) {
    const auto blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    text = blank == std::string_view::npos ? std::string_view{} : text.substr(blank + 1);
    if (at > indent && at + 1 + word.size() > width)
      out += "\n" + std::string(indent, ' '), at = indent;
    if (at > indent) out += ' ', ++at;
    out += word, at += word.size();
  }
  return out;
}

std::string flag_head(const FlagSpec& spec) {
  std::string head = spec.name;
  for (const std::string& alias : spec.aliases) head += ", " + alias;
  if (!spec.positional && spec.arity != Arity::none) head += " " + spec.value_name;
  return head;
}

std::string flag_lines(const Flags& flags) {
  constexpr std::size_t indent = 34;
  std::string out, section;
  for (const FlagSpec& spec : flags.list()) {
    if (spec.is_hidden) continue;
    const std::string heading = spec.positional ? "Arguments" : spec.section;
    if (heading != section) out += fmt::format("\n{}:\n", heading), section = heading;
    std::string doc = spec.doc;
    if (!spec.choices.empty()) doc += fmt::format(" ({})", fmt::join(spec.choices, ", "));
    if (spec.is_required && !spec.positional) doc += " [required]";
    const std::string head = flag_head(spec);
    if (head.size() + 4 > indent)
      out += fmt::format("  {}\n{}{}\n", head, std::string(indent, ' '), wrapped(doc, indent));
    else
      out += fmt::format("  {:<{}}{}\n", head, indent - 2, wrapped(doc, indent));
  }
  return out;
}

}  // namespace

std::string command_map() {
  std::string out =
      "kvsim: simulator and capacity planner for LLM inference\n\nUsage: kvsim COMMAND [ARGS] "
      "[FLAGS]\n";
  std::string_view group;
  for (const std::string& word : first_words()) {
    const std::vector<std::string> seconds = second_words(word);
    const auto all = commands();
    const auto entry = std::ranges::find_if(all, [&](const CommandEntry& e) {
      return e.name == word || (!seconds.empty() && e.name == word + " " + seconds.front());
    });
    constexpr std::size_t indent = 24;
    std::string summary(entry->summary);
    if (!seconds.empty()) summary = fmt::format("{}: {}", fmt::join(seconds, ", "), summary);
    out +=
        fmt::format("  {:<10} {:<{}}{}\n", entry->group == group ? "" : std::string(entry->group),
                    word, indent - 13, wrapped(summary, indent));
    group = entry->group;
  }
  out +=
      "\nkvsim help COMMAND explains one; kvsim explain TOPIC explains a word or an error code.\n";
  return out;
}

std::string general_help() {
  Globals globals;
  Flags flags;
  describe(flags, globals);
  return command_map() + flag_lines(flags) +
         "\nExit codes:\n"
         "  0 ok   1 the answer is no   2 usage   3 invalid input   4 input or output   70 "
         "internal check failed\n"
         "  130 interrupted\n";
}

std::string usage_line(const CommandEntry& entry, const Flags& flags) {
  std::string out = fmt::format("kvsim {}", entry.name);
  for (const FlagSpec& spec : flags.list()) {
    if (spec.positional) {
      const std::string word = spec.name + (spec.arity == Arity::many ? "..." : "");
      out += spec.is_required ? " " + word : " [" + word + "]";
    }
  }
  for (const FlagSpec& spec : flags.list())
    if (!spec.positional && spec.is_required)
      out += fmt::format(" {} {}", spec.name, spec.value_name);
  return out + " [FLAGS]";
}

std::string command_help(const CommandEntry& entry) {
  const auto command = entry.make();
  Flags flags;
  command->describe(flags);
  const std::string usage = usage_line(entry, flags);
  std::string out = fmt::format("kvsim {}: {}\n\nUsage: {}\n", entry.name, entry.summary, usage);
  if (!flags.examples().empty()) out += "\nExamples:\n";
  for (const Flags::Example& e : flags.examples())
    out += fmt::format("  {}\n      {}\n", e.line, e.meaning);
  Globals globals;
  Flags global;
  describe(global, globals);
  std::string names;
  for (const FlagSpec& spec : global.list())
    if (!spec.is_hidden) names += (names.empty() ? "" : " ") + spec.name;
  return out + flag_lines(flags) +
         fmt::format("\nGlobal flags (kvsim --help):\n  {}\n", wrapped(names, 2));
}

}  // namespace kvsim::cli
