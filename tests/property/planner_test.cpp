#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kvformat/footprint.h"
#include "memory/holding.h"
#include "planner/advice.h"
#include "planner/answers.h"
#include "planner/change.h"
#include "planner/feasible.h"
#include "property/pinned.h"
#include "spec/catalog.h"

// What `plan` answers, against asking the same rules in another way.

using namespace kvsim;
using namespace kvsim::planner;

namespace {

const spec::Catalog& catalog() {
  static const spec::Catalog all;
  return all;
}

// A model of the catalog on a GPU of it, under the rules of some engine and version.
Request any_request() {
  static const auto models = catalog().model_ids(), gpus = catalog().gpu_ids();
  static const std::vector<const memory::Rules*> rules = [] {
    std::vector<const memory::Rules*> all;
    for (const std::string_view engine : memory::engine_names)
      for (const memory::Rules* r : memory::rules_of(memory::parse_engine(engine)))
        all.push_back(r);
    return all;
  }();
  Request r;
  r.model = catalog().model(models[*rc::gen::inRange<std::size_t>(0, models.size())]);
  r.gpu = catalog().gpu(gpus[*rc::gen::inRange<std::size_t>(0, gpus.size())]);
  r.options.rules = *rules[*rc::gen::inRange<std::size_t>(0, rules.size())];
  r.options.plan.tensor_parallel_size = 1 << *rc::gen::inRange(0, 4);
  return resolved(std::move(r));
}

}  // namespace

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
  std::vector<spec::GpuSpec> gpus;
  for (const std::string& id : catalog().gpu_ids()) gpus.push_back(catalog().gpu(id));
  KVSIM_PROPERTY("the first advice fits when planned again by the same code", [&] {
    const Request r = any_request();
    RC_PRE(try_pool(r).has_value());
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

TEST_CASE("a length starts exactly where it lies in a feasible range") {
  KVSIM_PROPERTY("random lengths of random deployments", [] {
    Request r = any_request();
    RC_PRE(try_pool(r).has_value());
    const Feasible f = feasible_lengths(r);
    RC_PRE(f.limit > 0);
    const auto length = *rc::gen::inRange<std::int64_t>(1, f.limit + 1);
    bool inside = false;
    for (const LengthRange& range : f.ranges)
      inside = inside || (range.first <= length && length <= range.last);
    r.options.max_model_len = length;
    const auto pool = try_pool(r);
    RC_ASSERT((pool && pool->fits) == inside);
  });
}

TEST_CASE("room that is named holds the requests that were asked for") {
  KVSIM_PROPERTY("every setting of a room verified", [] {
    Request r = any_request();
    RC_PRE(try_pool(r).has_value());
    r.options.max_model_len = 4096;
    const RoomAsk ask{*rc::gen::inRange<std::int64_t>(1, 200),
                      *rc::gen::inRange<std::int64_t>(1, 4097)};
    const Room room = make_room(r, ask);
    const auto holds = [&](const std::vector<Setting>& set) {
      const Request with = changed(r, set);
      const auto pool = try_pool(with);
      return pool && pool->fits &&
             kvsim::memory::Holding(*pool).requests(ask.tokens) *
                     with.options.plan.data_parallel_size >=
                 ask.requests;
    };
    if (room.fraction) RC_ASSERT(holds({number(room.fraction_flag, *room.fraction)}));
    if (room.kv_memory_fits)
      RC_ASSERT(
          holds({number("kv_cache_memory_bytes", static_cast<double>(room.kv_memory->value()))}));
    for (const Advice& a : room.instead) RC_ASSERT(holds(a.set));
  });
}
