#pragma once
#include <string>
#include <string_view>

#include "config/document.h"
#include "conform/outcome.h"
#include "spec/catalog.h"

namespace kvsim::conform {

// The id of a recorded case: a text. Throws InputError.
std::string case_id(config::Value root);

// Throws InputError (step_log_code) when the line is one of the step log of `run --steps`.
void refuse_step_log(config::Value root);
inline constexpr std::string_view step_log_code = "conform-step-log";

// The value at a JSON pointer below `value` (names without escapes); exists() tells whether there
// is one.
config::Value at_pointer(config::Value value, std::string_view pointer);

// Replays one recorded case up to its first difference.
//
// A case that asks for what kvsim does not model (an engine field, a profile, a group kind) is
// refused: it counts as different, with the reason. Throws InputError for what is no case: members
// missing, unknown or of another type.
Outcome replay_case(const config::Document& line, const spec::Catalog& catalog);

// The two kinds, by their member "ops" or "steps".
Outcome replay_operations(config::Value root);
Outcome replay_steps(config::Value root, const spec::Catalog& catalog);

}  // namespace kvsim::conform
