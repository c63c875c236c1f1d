#include "cli/completion.h"

#include <fmt/format.h>

#include "cli/commands/registry.h"
#include "cli/globals.h"

namespace kvsim::cli {
namespace {

// Flags and first positional of a command, the global flags behind its own.
struct Described {
  std::string name, summary;
  std::unique_ptr<Command> command;  // owns what the flags are bound to
  Globals globals;
  Flags flags;
};

std::vector<std::unique_ptr<Described>> all_described() {
  std::vector<std::unique_ptr<Described>> out;
  for (const CommandEntry& entry : commands()) {
    auto d = std::make_unique<Described>();
    d->name = entry.name, d->summary = entry.summary;
    d->command = entry.make();
    d->command->describe(d->flags);
    describe(d->flags, d->globals);
    out.push_back(std::move(d));
  }
  return out;
}

std::vector<std::string> words_of(const FlagSpec& spec, const CompletionIds& ids) {
  switch (spec.complete) {
    case Complete::words:
      return spec.choices;
    case Complete::model:
      return ids.models;
    case Complete::gpu:
      return ids.gpus;
    case Complete::command: {
      std::vector<std::string> names = first_words();
      names.emplace_back("help");
      return names;
    }
    case Complete::nothing:
    case Complete::file:
    case Complete::folder:
    case Complete::topic:
      return {};
  }
  return {};
}

// What bash's compgen takes for the values of a flag.
std::string compgen(const FlagSpec& spec, const CompletionIds& ids) {
  const std::vector<std::string> words = words_of(spec, ids);
  const bool files = spec.complete == Complete::file || spec.complete == Complete::model;
  if (spec.complete == Complete::folder) return "-d";
  if (words.empty()) return files ? "-f" : "";
  return fmt::format("{}-W '{}'", files ? "-f " : "", fmt::join(words, " "));
}

std::string quote(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> spellings(const FlagSpec& spec) {
  std::vector<std::string> names{spec.name};
  names.insert(names.end(), spec.aliases.begin(), spec.aliases.end());
  return names;
}

}  // namespace

std::string bash_completion(const CompletionIds& ids) {
  std::string flag_cases, value_cases, word_cases;
  for (const auto& d : all_described()) {
    std::string names;
    std::string words;
    for (const FlagSpec& spec : d->flags.list()) {
      if (spec.is_hidden) continue;
      if (spec.positional) {
        if (words.empty()) words = compgen(spec, ids);
        continue;
      }
      names += fmt::format("{}{}", names.empty() ? "" : " ", fmt::join(spellings(spec), " "));
      if (spec.arity != Arity::none)
        for (const std::string& name : spellings(spec))
          value_cases +=
              fmt::format("    '{} {}') take {} ;;\n", d->name, name, compgen(spec, ids));
    }
    flag_cases += fmt::format("    '{}') take -W '{}' ;;\n", d->name, names);
    if (!words.empty()) word_cases += fmt::format("    '{}') take {} ;;\n", d->name, words);
  }
  std::string two_words, second_cases;
  for (const std::string& word : first_words()) {
    const auto seconds = second_words(word);
    if (seconds.empty()) continue;
    two_words += fmt::format("{}{}", two_words.empty() ? "" : "|", word);
    second_cases += fmt::format("    {}) take -W '{}' ;;\n", word, fmt::join(seconds, " "));
  }
  return fmt::format(
      R"(# bash completion of kvsim; load it with: source <(kvsim completion bash)
_kvsim() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} first=2
  COMPREPLY=()
  take() {{ COMPREPLY=($(compgen "$@" -- "$cur")); }}
  if [ "$COMP_CWORD" -eq 1 ]; then
    take -W '{0} help'
    return
  fi
  case $command in
    help) take -W '{0}'; return ;;
{1}  esac
  case "$command $prev" in
{3}    *) false ;;
  esac && return
  if [[ $cur == -* ]]; then
    case $command in
{4}    esac
    return
  fi
  case $command in
{5}    *) take -f ;;
  esac
}}
complete -o filenames -F _kvsim kvsim
)",
      fmt::join(first_words(), " "),
      two_words.empty()
          ? ""
          : fmt::format(
                "    {})\n      if [ \"$COMP_CWORD\" -eq 2 ]; then\n        case $command in\n{}   "
                "     esac\n"
                "        return\n      fi\n      command=\"$command ${{COMP_WORDS[2]}}\" ;;\n",
                two_words, second_cases),
      "", value_cases, flag_cases, word_cases);
}

std::string zsh_completion(const CompletionIds& ids) {
  // zsh runs bash's completion functions; one script to keep right.
  return "#compdef kvsim\n# zsh completion of kvsim; load it with: source <(kvsim completion zsh)\n"
         "autoload -U +X bashcompinit && bashcompinit\n" +
         bash_completion(ids);
}

std::string fish_completion(const CompletionIds& ids) {
  std::string out =
      "# fish completion of kvsim; load it with: kvsim completion fish | source\n"
      "complete -c kvsim -f\n";
  for (const std::string& word : first_words()) {
    const auto seconds = second_words(word);
    const CommandEntry* entry = find_command(word);
    out += fmt::format(
        "complete -c kvsim -n __fish_use_subcommand -a {} -d {}\n", word,
        quote(entry ? std::string(entry->summary) : fmt::format("{}", fmt::join(seconds, ", "))));
    if (!seconds.empty())
      out += fmt::format(
          "complete -c kvsim -n '__fish_seen_subcommand_from {0}; and not "
          "__fish_seen_subcommand_from {1}' -a '{1}'\n",
          word, fmt::join(seconds, " "));
  }
  for (const auto& d : all_described()) {
    const auto blank = d->name.find(' ');
    std::string when = "__fish_seen_subcommand_from " + d->name.substr(0, blank);
    if (blank != std::string::npos)
      when += "; and __fish_seen_subcommand_from " + d->name.substr(blank + 1);
    for (const FlagSpec& spec : d->flags.list()) {
      if (spec.is_hidden) continue;
      std::string line = fmt::format("complete -c kvsim -n '{}'", when);
      const std::vector<std::string> words = words_of(spec, ids);
      const bool files = spec.complete == Complete::file || spec.complete == Complete::model ||
                         spec.complete == Complete::folder;
      if (!spec.positional) {
        for (const std::string& name : spellings(spec))
          line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        if (spec.arity != Arity::none) line += files ? " -r -F" : " -x";
      } else if (files) {
        line += " -F";
      }
      if (!words.empty())
        line += fmt::format(" -a '{}'", fmt::join(words, " "));
      else if (spec.positional && !files)
        continue;
      out += line + " -d " + quote(spec.doc) + "\n";
    }
  }
  return out;
}

}  // namespace kvsim::cli
