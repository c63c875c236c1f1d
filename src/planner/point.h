#pragma once
#include <memory>

#include "cost/cost_model.h"
#include "memory/pool.h"
#include "planner/plan.h"

namespace kvsim::planner {

std::unique_ptr<cost::CostModel> make_cost(const Request& request, const memory::Pool& pool);

// Seconds of one prompt alone, in chunks of max_num_batched_tokens.
double prefill_seconds(const Request& request, const memory::Pool& pool,
                       const cost::CostModel& cost, std::int64_t tokens);

Point make_point(const Request& request, const memory::Pool& pool);

}  // namespace kvsim::planner
