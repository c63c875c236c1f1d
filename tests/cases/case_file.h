#pragma once
#include <string>
#include <vector>

// The .case format (README.md beside this file): commands and what must come out of them.
namespace kvsim::testing {

struct Expectation {
  enum class Kind { json, missing, contains, lacks };
  Kind kind = Kind::json;
  int line = 0;
  std::string text;        // the line as written
  std::string pointer;     // json, missing
  std::string comparison;  // json: == != < <= > >= within
  double tolerance = 0;    // within: a fraction
  std::string value;       // json: JSON text or a pointer; else the text looked for
  bool in_stderr = false;  // contains, lacks
};

struct Command {
  int line = 0;
  std::string text;
  std::vector<std::string> arguments;  // after the program's name
  int exit_status = 0;
  std::vector<Expectation> expectations;
};

struct Case {
  std::string name;  // of the file
  std::string title;
  std::vector<Command> commands;
};

// Throws std::runtime_error("file:line: what is wrong").
Case parse_case(const std::string& text, const std::string& name);

}  // namespace kvsim::testing
