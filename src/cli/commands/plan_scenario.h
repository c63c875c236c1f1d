#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands/plan_flags.h"
#include "launch/flag_table.h"
#include "planner/plan.h"
#include "spec/catalog.h"

namespace kvsim::cli {

// A scenario of a planned deployment, ready to be written.
struct PlanScenario {
  std::string text;
  std::string workload;                   // the workload it got, in words
  std::vector<std::string> left_out;      // settings that scenario files have no field for
  std::vector<launch::Leftover> refused;  // of the command's own, with what a scenario says to them
  std::int64_t blocks = 0;                // of the scenario's KV pool
  // What it would have by its own fields, where the plan's number is written; 0 = it has those.
  std::int64_t own_blocks = 0;
};

// The deployment of `flags`, with what `fields` of a command adds, as a scenario file that will
// stand at `path`, with a small workload of independent requests that suits the plan's longest
// request. The text is loaded before it is answered: InputError when it could not be run (an engine
// without a profile, a pool too small).
PlanScenario plan_scenario(const PlanFlags& flags, const planner::Request& request,
                           const planner::Plan& plan, const std::vector<launch::Leftover>& fields,
                           const std::string& path, const spec::Catalog& catalog);

}  // namespace kvsim::cli
