#include "cases/case_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>

#include "support/process.h"
#include "units/parse.h"

namespace kvsim::testing {
namespace {

constexpr std::array<std::string_view, 6> comparisons{"==", "!=", "<", "<=", ">", ">="};

// The rest of `line` after its first `words` words, blanks trimmed.
std::string rest_of(const std::string& line, int words) {
  std::size_t at = line.find_first_not_of(" \t");
  for (int i = 0; i < words && at != std::string::npos; ++i)
    at = line.find_first_not_of(" \t", line.find_first_of(" \t", at));
  if (at == std::string::npos) return {};
  return line.substr(at, line.find_last_not_of(" \t") + 1 - at);
}

class Parser {
 public:
  Parser(const std::string& text, const std::string& name) : in_(text) { case_.name = name; }

  Case parse() {
    for (std::string line; std::getline(in_, line);) {
      ++line_;
      if (line.rfind('#', 0) == 0) {
        if (line_ == 1) case_.title = rest_of(line, 1);
      } else if (line.find_first_not_of(" \t") != std::string::npos) {
        read(line);
      }
    }
    if (case_.title.empty()) fail("the first line must be '# title'");
    if (case_.commands.empty()) fail("no command");
    for (const Command& command : case_.commands)
      if (command.expectations.empty() && command.exit_status == 0)
        fail(fmt::format("nothing is expected of '{}'", command.text));
    return std::move(case_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", case_.name, line_, what));
  }

  void read(const std::string& line) {
    std::istringstream words(line);
    std::string verb;
    words >> verb;
    if (verb == "plan" || verb == "scenario" || verb == "kvsim") return command(line, verb);
    if (case_.commands.empty()) fail("a command must come before '" + verb + "'");
    if (verb == "exit") return exit_status(line);
    if (verb == "expect") return expect(line, words);
    if (verb == "stdout" || verb == "stderr") return contains(line, verb);
    fail("unknown word '" + verb + "'");
  }

  void command(const std::string& line, const std::string& verb) {
    Command command;
    command.line = line_;
    command.text = line;
    try {
      command.arguments = split_words(rest_of(line, 1));
    } catch (const std::runtime_error& error) {
      fail(error.what());
    }
    if (command.arguments.empty()) fail("'" + verb + "' of what?");
    if (verb != "kvsim") {
      command.arguments.insert(command.arguments.begin(), verb == "plan" ? "plan" : "run");
      command.arguments.insert(command.arguments.begin() + 2, "--json");
    }
    case_.commands.push_back(std::move(command));
  }

  void exit_status(const std::string& line) {
    const auto status = parse_integer(rest_of(line, 1));
    if (!status || *status < 0 || *status > 255) fail("exit needs a number from 0 to 255");
    case_.commands.back().exit_status = static_cast<int>(*status);
  }

  Expectation& add(const std::string& line, Expectation::Kind kind) {
    Expectation& expectation = case_.commands.back().expectations.emplace_back();
    expectation.kind = kind;
    expectation.line = line_;
    expectation.text = line;
    return expectation;
  }

  void expect(const std::string& line, std::istringstream& words) {
    Expectation& e = add(line, Expectation::Kind::json);
    words >> e.pointer >> e.comparison;
    if (e.pointer.empty() || e.pointer[0] != '/') fail("expect needs a JSON pointer");
    if (e.comparison == "is") {
      if (rest_of(line, 3) != "missing") fail("expected 'is missing'");
      e.kind = Expectation::Kind::missing;
      return;
    }
    if (e.comparison == "within") {
      std::string percent, of;
      words >> percent >> of;
      const auto number =
          percent.empty() ? std::nullopt : parse_number(percent.substr(0, percent.size() - 1));
      if (!number || percent.back() != '%' || of != "of") fail("expected 'within P% of VALUE'");
      e.tolerance = *number / 100;
      e.value = rest_of(line, 5);
    } else {
      if (std::find(comparisons.begin(), comparisons.end(), e.comparison) == comparisons.end())
        fail("unknown comparison '" + e.comparison + "'");
      e.value = rest_of(line, 3);
    }
    if (e.value.empty()) fail("a value is missing");
  }

  void contains(const std::string& line, const std::string& stream) {
    const bool lacks = rest_of(line, 1).rfind("does not contain ", 0) == 0;
    const std::string quoted = rest_of(line, lacks ? 4 : 2);
    if (!lacks && rest_of(line, 1).rfind("contains ", 0) != 0) fail("expected 'contains'");
    if (quoted.size() < 3 || quoted.front() != '"' || quoted.back() != '"')
      fail("expected text in double quotes");
    Expectation& e = add(line, lacks ? Expectation::Kind::lacks : Expectation::Kind::contains);
    e.value = quoted.substr(1, quoted.size() - 2);
    e.in_stderr = stream == "stderr";
  }

  std::istringstream in_;
  Case case_;
  int line_ = 0;
};

}  // namespace

Case parse_case(const std::string& text, const std::string& name) {
  return Parser(text, name).parse();
}

}  // namespace kvsim::testing
