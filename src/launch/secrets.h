#pragma once
#include <string>
#include <string_view>

#include "launch/flag_table.h"

// Keys, tokens and passwords of a pasted command or log, which no report and no message repeats.
namespace kvsim::launch {

// Whether a name that no table knows may stand for a secret: it contains key, token, secret or
// password, in any case. Too many are hidden rather than too few.
bool is_secret(std::string_view name);

// Whether a flag's value is one. A flag of any engine's table is judged by its last word
// (--api-key is one, --max-num-batched-tokens is not); an unknown one by is_secret, its words as
// typed and the known flag nearest to it (--api-kye).
bool is_secret(const EngineFlags& flags, const Argument& argument);

// Whether a member of a JSON object or a Python dict in `text`, at any depth, has a name whose last
// word is key, token, secret or password.
bool holds_secret(std::string_view text);

// The nearest flag of the engine's table, "" when none is near.
std::string nearest_flag(const EngineFlags& flags, std::string_view name);

// The argument with "--api-key ..." as its words where they hold a secret. Its values stay.
Argument concealed(const EngineFlags& flags, Argument argument);

}  // namespace kvsim::launch
