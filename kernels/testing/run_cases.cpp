#include "kernels/testing/run_cases.h"

#include <doctest/doctest.h>

#include "kernels/simt/fault.h"

namespace kvsim::kernels::testing {

std::vector<Outcome> run_cases(Problems cases, const Options& options) {
  const auto device =
      make_cpu_device({.schedule_seed = options.schedule_seed, .count_bytes = options.count_bytes});
  std::vector<Outcome> out;
  for (auto& problem : cases) {
    problem->prepare(*device, 1, options.data_seed);
    const auto variants = problem->variants();
    for (std::size_t v = 0; v < variants.size(); ++v) {
      if (!variants[v].cpu) continue;
      Outcome outcome{case_id(problem->info(), variants[v].name), problem->floor(), {}, {}};
      problem->poison(0);
      device->count_from_here();
      try {
        problem->launch(v, 0, device->stream());
        if (const auto touched = device->touched()) outcome.touched = *touched;
        outcome.check = problem->check(v, 1 << 30);
      } catch (const simt::Fault& fault) {
        outcome.check.note = fault.what();
      }
      out.push_back(std::move(outcome));
    }
    problem.reset();  // its arrays belong to the device
  }
  return out;
}

std::vector<Outcome> expect_all_pass(Problems cases, const Options& options) {
  auto outcomes = run_cases(std::move(cases), options);
  CHECK(!outcomes.empty());
  for (const Outcome& outcome : outcomes) {
    CAPTURE(outcome.id);
    CAPTURE(outcome.check.rel_l2);
    CAPTURE(outcome.check.gate);
    CAPTURE(outcome.check.finite);
    CAPTURE(outcome.check.note);
    CHECK(outcome.check.passed());
  }
  return outcomes;
}

std::vector<Outcome> run_one(std::unique_ptr<Problem> problem, const Options& options) {
  Problems cases;
  cases.push_back(std::move(problem));
  return expect_all_pass(std::move(cases), options);
}

}  // namespace kvsim::kernels::testing
