#pragma once
#include <string>
#include <vector>

#include "cli/command.h"

namespace kvsim::cli {

struct CompletionIds {
  std::vector<std::string> models, gpus;
};

// Completion scripts, generated from the command table and the flags. They are self-contained: ids
// and closed word lists are written into them.
std::string bash_completion(const CompletionIds& ids);
std::string zsh_completion(const CompletionIds& ids);
std::string fish_completion(const CompletionIds& ids);

}  // namespace kvsim::cli
