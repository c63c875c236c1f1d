#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "cost/step_fill.h"
#include "memory/pool.h"
#include "planner/point.h"
#include "requests.h"

using namespace kvsim;
using namespace kvsim::planner;

namespace {

// A decode step of a model whose kernels are shorter than their launches.
cost::StepBill decode_bill(memory::Engine engine, bool eager) {
  Request r;
  r.model = catalog().model("qwen3-0.6b"), r.gpu = catalog().gpu("h100-sxm");
  r.options.rules = memory::resolve_rules(engine);
  r.options.enforce_eager = eager;
  r.costs = std::make_shared<const cost::CostBook>(catalog());
  r = resolved(std::move(r));
  const memory::Pool pool = memory::size_pool(r.model, r.gpu, r.options);
  return make_cost(r, pool)->bill(cost::decode_shape(r.model, 256, 4));
}

bool waits_for_launches(const cost::StepBill& bill) {
  return std::ranges::any_of(bill.operators, [](const auto& o) { return o.name == "launches"; });
}

}  // namespace

TEST_CASE("a planned decode step comes from a graph under every engine unless that is eager") {
  for (const memory::Engine engine :
       {memory::Engine::vllm_v1, memory::Engine::sglang, memory::Engine::trtllm}) {
    CAPTURE(memory::name(engine));
    const cost::StepBill replayed = decode_bill(engine, false), eager = decode_bill(engine, true);
    CHECK_FALSE(waits_for_launches(replayed));
    CHECK(waits_for_launches(eager));
    CHECK(eager.seconds > replayed.seconds);
  }
}
