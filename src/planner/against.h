#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "planner/feasible.h"
#include "units/units.h"

namespace kvsim::planner {

struct Plan;

inline constexpr std::string_view holds_the_same = "nothing: both hold the same";

// A deployment beside another one: their ledgers term by term, what they hold, and which term
// explains most of the difference.
struct Against {
  struct Term {
    std::string name;
    Bytes here, there;
    bool in_budget = true;
    Bytes difference() const { return there - here; }
  };
  std::string flags;  // what was changed, as given
  // Of the other one.
  std::string model, gpu, rules, limit;
  bool fits = false;
  int gpus = 1;
  std::int64_t tokens = 0, max_model_len = 0;
  double max_concurrency = 0, bytes_per_token = 0;
  Feasible feasible;
  std::vector<std::string> engine_log;
  // GPU, budget, the lines of both ledgers in their order, what is missing.
  std::vector<Term> terms;
  std::string explains;  // the largest cause of the change in tokens, in words
};

// `here` and `there` were answered by the same rules; `flags` is what changed.
Against compare_plans(const Plan& here, const Plan& there, std::string flags);

}  // namespace kvsim::planner
