#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace kvsim::cli {

// Every command, in the order of the command map.
std::span<const CommandEntry> commands();

// The command of exactly that name, or null.
const CommandEntry* find_command(std::string_view name);

// What may follow `word`: the second words of two-word commands ("list", "show"); empty for others.
std::vector<std::string> second_words(std::string_view word);
// All first words, each once.
std::vector<std::string> first_words();

}  // namespace kvsim::cli
