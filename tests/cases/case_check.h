#pragma once
#include <string>
#include <vector>

#include "cases/case_file.h"
#include "support/process.h"

namespace kvsim::testing {

// What of `command` was not fulfilled by `outcome`, one line per finding with "name:line:".
std::vector<std::string> check_outcome(const std::string& name, const Command& command,
                                       const Outcome& outcome);

// Runs all commands of a case in `folder`.
std::vector<std::string> run_case(const Case& test, const std::string& folder);

}  // namespace kvsim::testing
