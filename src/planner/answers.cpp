#include "planner/answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/advice.h"
#include "planner/change.h"
#include "units/format.h"

namespace kvsim::planner {
namespace {

void warn_of_length(Plan& plan, const char* what, std::int64_t tokens) {
  if (tokens <= plan.max_model_len) return;
  plan.warnings.push_back(fmt::format(
      "{} {} is above max_model_len {}: the engine refuses such a request; give --max-model-len",
      what, format_integer(tokens), format_integer(plan.max_model_len)));
}

void advise_other_gpus(Plan& plan, const Request& r, const std::vector<spec::GpuSpec>& gpus) {
  if (std::ranges::any_of(plan.advice, &Advice::fits)) return;
  for (Advice& a : other_gpus(r, gpus)) plan.advice.insert(plan.advice.begin(), std::move(a));
  plan.nothing_fits = std::ranges::none_of(plan.advice, &Advice::fits);
}

}  // namespace

Plan answer(const Request& asked, const Questions& questions) {
  const Request r = resolved(asked);
  Plan plan = make_plan(r);
  const memory::Pool pool = memory::size_pool(r.model, r.gpu, r.options);
  plan.feasible = feasible_lengths(r);
  plan.usable = usable_tokens(pool);
  plan.smallest = smallest_that_fit(r);
  plan.binding = find_binding(pool);
  if (!plan.fits && !questions.gpus.empty()) advise_other_gpus(plan, r, questions.gpus);
  if (questions.lengths) {
    plan.at_lengths = at_lengths(pool, *questions.lengths);
    if (plan.at_lengths->refused > 0)
      plan.warnings.push_back(fmt::format(
          "{:.3g} % of the requests are longer than max_model_len {} and are not counted",
          plan.at_lengths->refused * 100, format_integer(plan.max_model_len)));
  }
  if (!questions.streams.empty()) plan.streams = count_streams(r, questions.streams);
  for (const RoomAsk& ask : questions.room) plan.room.push_back(make_room(r, ask));
  if (r.context) warn_of_length(plan, "context", *r.context);
  for (const std::int64_t tokens : questions.streams) warn_of_length(plan, "a stream of", tokens);
  const std::int64_t running = plan.max_num_seqs * plan.parallel.data_parallel_size;
  for (const RoomAsk& ask : questions.room) {
    warn_of_length(plan, "room for", ask.tokens);
    if (ask.requests > running)
      plan.warnings.push_back(
          fmt::format("room for {} requests, but max_num_seqs lets {} run; give --max-num-seqs",
                      format_integer(ask.requests), format_integer(running)));
  }
  return plan;
}

}  // namespace kvsim::planner
