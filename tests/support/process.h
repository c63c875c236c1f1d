#pragma once
#include <string>
#include <vector>

// Runs programs the way a user's shell would, without a shell.
namespace kvsim::testing {

struct Outcome {
  int status = 0;  // exit status; 128 + number when a signal ended it
  std::string out;
  std::string err;
};

// Runs `arguments[0]` with the rest as its arguments in `folder` and feeds it `input`. Throws
// std::runtime_error when it cannot be started.
Outcome run_program(const std::vector<std::string>& arguments, const std::string& folder = ".",
                    const std::string& input = {});

// The same for the kvsim of this build: the arguments after the program's name.
Outcome run_kvsim(std::vector<std::string> arguments, const std::string& folder = ".",
                  const std::string& input = {});

std::string kvsim_path();

// Cuts a line into words as a shell does: blanks separate, '...' and "..." keep blanks, \ escapes
// inside double quotes and outside quotes. Throws std::runtime_error on an open quote.
std::vector<std::string> split_words(const std::string& line);

}  // namespace kvsim::testing
