#pragma once
#include <string>
#include <string_view>
#include <vector>

// A pasted shell command, split as a POSIX shell would, without running anything: quotes,
// backslashes, continued lines, comments, prompts ("$ ", "# " before a program, "> ").
namespace kvsim::launch {

struct Word {
  std::string text;     // without its quotes
  int line = 1;         // where it starts, from 1
  bool quoted = false;  // any part of it stood in quotes
};

// The simple commands of `text`, in order; ; & | and line ends separate them, redirections are left
// out. A line that starts with "-" continues the command before it, as lists of flags pasted from
// pages do. `name` is what errors call the text. Throws InputError (command-syntax) for a quote
// that is not closed. Cost: O(text).
std::vector<std::vector<Word>> shell_commands(std::string_view text, const std::string& name);

}  // namespace kvsim::launch
