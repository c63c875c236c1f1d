#include "cli/main.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <new>

#include "cli/commands/registry.h"
#include "cli/diagnose.h"
#include "cli/help.h"
#include "cli/parser.h"
#include "config/document.h"
#include "diag/check.h"
#include "diag/suggest.h"

namespace kvsim::cli {
namespace {

using Words = std::vector<std::string>;

// The command line, taken apart: the words of the command's name, and all others in order.
struct Line {
  std::string command;  // "" = none given
  std::string second;   // of a two-word command
  Words rest;
};

// Places of the first two words that are neither flags nor values of global flags.
Line take_apart(const Words& words) {
  Globals globals;
  Flags flags;
  describe(flags, globals);
  Line line;
  bool is_value = false, flags_end = false;
  for (const std::string& word : words) {
    const bool is_flag = !flags_end && word.size() > 1 && word[0] == '-';
    if (is_value || is_flag) {
      line.rest.push_back(word);
      const FlagSpec* spec = is_value ? nullptr : flags.find(word);
      is_value = spec && spec->arity != Arity::none;
      flags_end |= word == "--";
    } else if (line.command.empty()) {
      line.command = word;
    } else if (line.second.empty() && !second_words(line.command).empty() &&
               !find_command(line.command)) {
      line.second = word;
    } else {
      line.rest.push_back(word);
    }
  }
  return line;
}

const CommandEntry& choose(const Line& line) {
  const Words firsts = first_words();
  if (const CommandEntry* entry = find_command(line.command)) return *entry;
  const Words seconds = second_words(line.command);
  if (seconds.empty()) {
    Words known = firsts;
    known.push_back("help");
    const auto near = nearest(line.command, known);
    throw UsageError(
        fmt::format("unknown command {}", config::json_string(line.command)),
        near ? fmt::format("did you mean {}?", *near) : "kvsim --help lists the commands",
        "usage-unknown-command");
  }
  if (line.second.empty())
    throw UsageError(fmt::format("{} needs one of {}", line.command, fmt::join(seconds, ", ")),
                     fmt::format("for example kvsim {} {}", line.command, seconds.front()),
                     "usage-missing");
  if (const CommandEntry* entry = find_command(line.command + " " + line.second)) return *entry;
  throw UsageError(
      fmt::format("unknown command {}", config::json_string(line.command + " " + line.second)),
      suggestion(line.second, seconds), "usage-unknown-command");
}

std::string help_for(const Line& line) {
  Line wanted;
  for (const std::string& word : line.rest)
    if (!word.starts_with('-')) (wanted.command.empty() ? wanted.command : wanted.second) = word;
  if (wanted.command.empty()) return general_help();
  const Words seconds = second_words(wanted.command);
  if (seconds.empty() || !wanted.second.empty()) return command_help(choose(wanted));
  std::string out;
  for (const std::string& second : seconds)
    out += command_help(*find_command(wanted.command + " " + second)) + "\n";
  return out;
}

// The global flags alone, as far as they can be read: how to print whatever happens next.
Globals first_look(const Words& words) {
  Globals globals;
  for (const std::string& word : words) {
    globals.json |= word == "--json";
    if (word == "--color=never" || word == "--color=always") globals.color = word.substr(8);
  }
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "--color" && words[i + 1] != "auto") globals.color = words[i + 1];
  return globals;
}

Exit print_help(const std::string& text, const std::string& path) {
  Output output(path);
  output.write(text);
  output.commit();
  return Exit::ok;
}

// `globals` is replaced once the line could be read whole.
Exit run(const Words& words, Globals& globals) {
  const Line line = take_apart(words);
  Globals given;
  Flags flags;
  if (line.command.empty()) {
    describe(flags, given);
    parse(line.rest, flags, "kvsim", Missing::allowed);
    if (given.help) return print_help(general_help(), given.output);
    if (!given.version) {
      std::fputs(command_map().c_str(), stderr);
      return Exit::usage;
    }
  }
  if (line.command == "help") return print_help(help_for(line), "");

  const CommandEntry& entry = given.version ? *find_command("version") : choose(line);
  const auto command = entry.make();
  if (!given.version) {
    command->describe(flags);
    describe(flags, given);
    const bool wants_help = std::ranges::any_of(
        line.rest, [](const std::string& w) { return w == "--help" || w == "-h"; });
    parse(line.rest, flags, entry.name, wants_help ? Missing::allowed : Missing::refused);
  }
  if (given.help) return print_help(command_help(entry), given.output);
  settle(given);
  globals = given;

  Output output(entry.output == OutputFiles::own ? "" : globals.output);
  Context context(globals, find_terminal(globals), output);
  const Exit answer = command->run(context);
  try {
    output.commit();
  } catch (const OutputClosed&) {  // the answer stands all the same
  }
  return answer;
}

Diagnostic problem(std::string code, std::string message, std::string file = {}) {
  Diagnostic d;
  d.code = std::move(code), d.message = std::move(message), d.file = std::move(file);
  return d;
}

}  // namespace

int main(int argc, char** argv) {
  watch_signals();
  const Words words(argv + (argc > 0 ? 1 : 0), argv + argc);
  Globals globals = first_look(words);
  const auto fail = [&](Exit status, const std::vector<Diagnostic>& diagnostics) {
    const std::string text = render(diagnostics, globals, find_terminal(globals));
    std::fwrite(text.data(), 1, text.size(), stderr);
    return static_cast<int>(status);
  };
  try {
    return static_cast<int>(run(words, globals));
  } catch (const OutputClosed&) {
    return static_cast<int>(Exit::ok);
  } catch (const Interrupted&) {
    return fail(Exit::interrupted, {problem("interrupted", "interrupted")});
  } catch (const UsageError& error) {
    return fail(Exit::usage, {error.diagnostic()});
  } catch (const InputError& error) {
    return fail(Exit::input, error.diagnostics());
  } catch (const IoError& error) {
    if (interrupt_flag().load())
      return fail(Exit::interrupted, {problem("interrupted", "interrupted")});
    return fail(Exit::io, {problem("io", error.what(), globals.json ? error.path() : "")});
  } catch (const std::bad_alloc&) {
    return fail(Exit::internal, {problem("out-of-memory", "there is not enough memory for this")});
  } catch (const std::exception& error) {
    return fail(Exit::internal, {problem("internal", error.what())});
  }
}

}  // namespace kvsim::cli
