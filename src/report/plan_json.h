#pragma once
#include <string>
#include <vector>

#include "planner/plan.h"
#include "planner/search.h"
#include "report/exporter.h"

namespace kvsim::report {

inline constexpr const char* plan_schema = "kvsim.plan/1";

// The document kvsim.plan/1. `search` is added when it is not empty. Equal plans give equal bytes.
std::string plan_json(const planner::Plan& plan,
                      const std::vector<planner::Candidate>& search = {});

// The plan for people: ledger, KV cache, the timed point, the explorer, verdict and advice.
// Settings that the user did not give carry a star.
std::string plan_text(const planner::Plan& plan, const std::vector<planner::Candidate>& search = {},
                      Glyphs glyphs = Glyphs::ascii);

}  // namespace kvsim::report
