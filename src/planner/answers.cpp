#include "planner/answers.h"

#include "planner/change.h"

namespace kvsim::planner {

Plan answer(const Request& asked, const Questions&) {
  const Request r = resolved(asked);
  Plan plan = make_plan(r);
  const memory::Pool pool = memory::size_pool(r.model, r.gpu, r.options);
  plan.feasible = feasible_lengths(r);
  plan.usable = usable_tokens(pool);
  plan.smallest = smallest_that_fit(r);
  return plan;
}

}  // namespace kvsim::planner
