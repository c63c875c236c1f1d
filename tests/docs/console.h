#pragma once
#include <string>
#include <string_view>
#include <vector>

// The ```console blocks of a Markdown page: what a reader would type, and what they would see.
//
//   $ kvsim check models/gpu/h100-sxm.json      a command; lines with "> " continue it
//   models/gpu/h100-sxm.json: ... is well       "..." inside a line stands for anything
//   ...                                         alone on a line: any lines, or none
namespace kvsim::testing {

struct ConsoleCommand {
  int line = 0;
  std::string text;
  std::vector<std::string> expected;  // lines
};

std::vector<ConsoleCommand> console_commands(std::string_view markdown);

// Whether the whole of `output` is what `expected` describes.
bool matches(const std::vector<std::string>& expected, std::string_view output);

// Runs every command of a page, one after the other in one temporary folder that has links to the
// top level of `root`, with the folder of `program` first on PATH; stderr is shown with stdout. A
// command must succeed unless the page asks for its status with "$ echo $?" next. Answers what went
// wrong, one text per finding.
std::vector<std::string> run_page(const std::string& page, const std::string& root,
                                  const std::string& program);

}  // namespace kvsim::testing
