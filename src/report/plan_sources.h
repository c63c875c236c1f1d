#pragma once
#include <string>

#include "planner/plan.h"

// What of a plan came from a pasted command or start-up log: parts of plan_text and plan_json.
namespace kvsim::report {

std::string from_command_text(const launch::Command& command);
// One JSON object: program, engine, model, and every flag under taken, no_effect, not_modelled or
// unknown.
std::string from_command_json(const launch::Command& command);

}  // namespace kvsim::report
