#pragma once
#include <string>
#include <vector>

#include "launch/flag_table.h"

namespace kvsim::launch {

// Every argument into plan's words, none dropped: it ends among the settings, the neutral, the
// unmodelled or the unknown ones. Of a flag given twice the last counts, as for the engines, and
// the earlier one is named. Secrets are left out of the words (launch/secrets.h). `name` is what
// errors call the text. Throws InputError (command-value, command-missing-value) with the line for
// a value that the engine's parser would refuse.
Translation translate(const EngineFlags& flags, const std::vector<Argument>& arguments,
                      const std::string& name);

// The error for a value of an argument: what was expected, what was found.
[[noreturn]] void refuse_value(const Argument& argument, const std::string& name,
                               std::string_view expected);
std::string integer_value(const Argument& argument, const std::string& name);

}  // namespace kvsim::launch
