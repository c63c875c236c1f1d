#pragma once
#include "planner/plan.h"

namespace kvsim::planner {

// What is asked beside the plan itself.
struct Questions {};

// make_plan() and the answers to what people ask next: the lengths that start, what is usable in
// practice, the least that fits. Sizes the deployment a few hundred times.
Plan answer(const Request& request, const Questions& questions = {});

}  // namespace kvsim::planner
