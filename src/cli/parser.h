#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace kvsim::cli {

enum class Missing { refused, allowed };  // of required flags and words

// Gives the words of a command line to the flags that describe them. Throws UsageError: unknown
// flags (with the nearest known one), values that cannot be read, flags given twice, words too many
// or too few. `command` ("plan", "model show") is how messages call it.
void parse(std::span<const std::string> words, const Flags& flags, std::string_view command,
           Missing missing = Missing::refused);

}  // namespace kvsim::cli
