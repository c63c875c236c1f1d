#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kvformat/footprint.h"
#include "planner/advice.h"
#include "planner/answers.h"
#include "planner/change.h"
#include "planner/feasible.h"
#include "property/pinned.h"
#include "spec/catalog.h"

// What `plan` answers, against asking the same rules in another way.

using namespace kvsim;
using namespace kvsim::planner;

TEST_CASE("ranges of lengths agree with asking for every length") {
  KVSIM_PROPERTY("where no run is shorter than the resolution, every boundary is exact", [] {
    const auto limit = *rc::gen::inRange<std::int64_t>(1, 400);
    const auto step = *rc::gen::inRange<std::int64_t>(1, 40);
    const auto width = *rc::gen::inRange<std::int64_t>(step, 120);
    const auto first = *rc::gen::inRange<std::int64_t>(0, 200);
    const auto starts = [&](std::int64_t n) { return ((n + first) / width) % 2 == 0; };
    std::vector<LengthRange> expected;
    for (std::int64_t n = 1; n <= limit; ++n) {
      if (!starts(n)) continue;
      if (!expected.empty() && expected.back().last == n - 1)
        expected.back().last = n;
      else
        expected.push_back({n, n});
    }
    RC_ASSERT(ranges_where(limit, step, {}, starts) == expected);
  });
}

TEST_CASE("a refused plan names settings that fit or nothing does") {
  static const spec::Catalog catalog;
  static const std::vector<std::string> models = catalog.model_ids(), gpu_ids = catalog.gpu_ids();
  std::vector<spec::GpuSpec> gpus;
  for (const std::string& id : gpu_ids) gpus.push_back(catalog.gpu(id));
  KVSIM_PROPERTY("the first advice fits when planned again by the same code", [&] {
    Request r;
    r.model = catalog.model(models[*rc::gen::inRange<std::size_t>(0, models.size())]);
    r.gpu = gpus[*rc::gen::inRange<std::size_t>(0, gpus.size())];
    r.options.plan.tensor_parallel_size = 1 << *rc::gen::inRange(0, 4);
    RC_PRE(kvformat::parallel_problem(r.model, r.options.plan).empty());
    Questions questions;
    questions.gpus = gpus;
    const Plan plan = answer(r, questions);
    if (plan.fits) return;
    if (!plan.nothing_fits) {
      RC_ASSERT(!plan.advice.empty());
      RC_ASSERT(plan.advice.front().fits);
      RC_ASSERT(make_plan(changed(r, plan.advice.front().set, gpus)).fits);
      return;
    }
    // Everything that saves memory together, on every split of every GPU.
    for (const spec::GpuSpec& gpu : gpus)
      for (int tp = 1; tp <= 64; ++tp)
        for (int pp = 1; tp * pp <= 64; ++pp) {
          const Request with =
              changed(r,
                      std::vector{word("gpu", gpu.id), number("tensor_parallel_size", tp),
                                  number("pipeline_parallel_size", pp)},
                      gpus);
          const auto pool = try_pool(with);
          if (!pool) continue;
          const auto most = try_pool(changed(with, savings(with, *pool).back()));
          RC_ASSERT(!most || !most->fits);
        }
  });
}
