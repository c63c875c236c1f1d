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

// Requests of `context` tokens that one replica's pool holds.
std::int64_t requests_that_fit(const memory::Pool& pool, std::int64_t context);

}  // namespace kvsim::planner
