#pragma once
#include "memory/pool.h"
#include "planner/plan.h"

namespace kvsim::planner {

// Settings worth trying, each sized again by the same rules: what would make a deployment fit, or
// what would let one that fits hold more.
std::vector<Advice> make_advice(const Request& request, const memory::Pool& pool);

}  // namespace kvsim::planner
