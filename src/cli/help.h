#pragma once
#include <string>

#include "cli/command.h"

namespace kvsim::cli {

// The command map: what there is, in about fifteen lines.
std::string command_map();
// Map, global flags and exit codes.
std::string general_help();
// Purpose, usage, examples, flags by section.
std::string command_help(const CommandEntry& entry);
// "MODEL --gpu GPU [flags]": the required words and flags.
std::string usage_line(const CommandEntry& entry, const Flags& flags);

}  // namespace kvsim::cli
