#include "cli/parser.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/usage.h"
#include "config/document.h"
#include "diag/suggest.h"

// The only file that knows CLI11. CLI11 splits the words into flags, values and the rest; values
// are read and errors are phrased here, because its own exit codes and texts are not kvsim's.
namespace kvsim::cli {
namespace {

std::string quote(std::string_view text) { return config::json_string(text); }

std::string help_hint(std::string_view command) {
  return fmt::format("see kvsim help {}", command);
}

void take(const FlagSpec& spec, std::string_view text) {
  if (!spec.choices.empty() && std::ranges::count(spec.choices, text) == 0)
    throw UsageError(fmt::format("{} cannot be {}", spec.name, quote(text)),
                     suggestion(text, spec.choices), "usage-value");
  const std::string expected = spec.accept(spec, text);
  if (!expected.empty())
    throw UsageError(fmt::format("{}: expected {}, found {}", spec.name, expected, quote(text)), {},
                     "usage-value");
}

[[noreturn]] void unknown_flag(std::string_view word, const Flags& flags,
                               std::string_view command) {
  const std::string_view name = word.substr(0, word.find('='));
  std::vector<std::string> names;
  for (const FlagSpec& spec : flags.list()) {
    if (spec.positional || spec.is_hidden) continue;
    names.push_back(spec.name);
    names.insert(names.end(), spec.aliases.begin(), spec.aliases.end());
  }
  const auto near = nearest(name, names);
  throw UsageError(fmt::format("unknown flag {}", name),
                   near ? fmt::format("did you mean {}?", *near) : help_hint(command),
                   "usage-unknown-flag");
}

void give_positionals(const std::vector<std::string>& words, const Flags& flags,
                      std::string_view command, Missing missing) {
  auto word = words.begin();
  for (const FlagSpec& spec : flags.list()) {
    if (!spec.positional) continue;
    if (word == words.end()) {
      if (spec.is_required && missing == Missing::refused)
        throw UsageError(fmt::format("{} needs {}: {}", command, spec.name, spec.doc),
                         help_hint(command), "usage-missing");
      continue;
    }
    do take(spec, *word++);
    while (spec.arity == Arity::many && word != words.end());
  }
  if (word != words.end())
    throw UsageError(fmt::format("{} takes no further word: {}", command, quote(*word)),
                     help_hint(command), "usage-extra-word");
}

}  // namespace

void parse(std::span<const std::string> words, const Flags& flags, std::string_view command,
           Missing missing) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<std::pair<const FlagSpec*, CLI::Option*>> options;
  std::vector<std::vector<std::string>> values(flags.list().size());
  std::size_t i = 0;
  for (const FlagSpec& spec : flags.list()) {
    std::vector<std::string>& target = values[i++];
    if (spec.positional) continue;
    std::string names = spec.name;
    for (const std::string& alias : spec.aliases) names += "," + alias;
    CLI::Option* option = nullptr;
    if (spec.arity == Arity::none) {
      option = app.add_flag(names)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    } else {
      option = app.add_option(names, target)->expected(1)->allow_extra_args(false);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    }
    options.emplace_back(&spec, option);
  }

  for (const std::string& word : words) {
    if (word == "--") break;
    // CLI11 would take the next word for the value.
    if (word.ends_with('=') && flags.find(word.substr(0, word.size() - 1)))
      throw UsageError(fmt::format("{} needs a value", word), help_hint(command),
                       "usage-missing-value");
  }
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError&) {
    // With every check done here, the one thing CLI11 can miss is a value at the end of the line.
    const std::string last = words.empty() ? "" : words.back();
    throw UsageError(fmt::format("{} needs a value", last), help_hint(command),
                     "usage-missing-value");
  }

  std::vector<std::string> positionals;
  bool flags_end = false;
  for (const std::string& word : app.remaining()) {
    if (flags_end || word == "-" || !word.starts_with('-'))
      positionals.push_back(word);
    else if (word == "--")
      flags_end = true;
    else
      unknown_flag(word, flags, command);
  }
  for (const auto& [spec, option] : options) {
    const std::vector<std::string>& given = option->results();
    if (given.empty()) {
      if (spec->is_required && missing == Missing::refused)
        throw UsageError(
            fmt::format("{} needs {} {}: {}", command, spec->name, spec->value_name, spec->doc),
            help_hint(command), "usage-missing");
      continue;
    }
    if (spec->arity == Arity::one && given.size() > 1)
      throw UsageError(fmt::format("{} is given {} times", spec->name, given.size()), "keep one",
                       "usage-twice");
    for (const std::string& text : given) {
      if (spec->arity != Arity::none && !spec->holds_flags && text.starts_with("--") &&
          flags.find(text.substr(0, text.find('='))))
        throw UsageError(fmt::format("{} needs a value, found the flag {}", spec->name, text),
                         help_hint(command), "usage-missing-value");
      take(*spec, text);
    }
  }
  give_positionals(positionals, flags, command, missing);
}

}  // namespace kvsim::cli
