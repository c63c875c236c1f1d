#pragma once
#include <string>

#include "planner/plan.h"

// What of a plan came from a pasted command or start-up log: parts of plan_text and plan_json.
namespace kvsim::report {

std::string from_command_text(const launch::Command& command);
// One JSON object: program, engine, model, and every flag under taken, no_effect, not_modelled or
// unknown.
std::string from_command_json(const launch::Command& command);

// The flags that a command or log sets, with the words they came from.
std::string settings_text(const launch::Translation& flags);
std::string settings_json(const launch::Translation& flags);

// The settings of the log, and a table of what it printed against the prediction.
std::string from_log_text(const planner::Plan& plan);
// One JSON object: engine, version, settings, refusals, the terms with their lines, the
// explanation.
std::string from_log_json(const planner::Plan& plan);

}  // namespace kvsim::report
