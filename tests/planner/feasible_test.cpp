#include "planner/feasible.h"

#include <doctest/doctest.h>

#include <string>

#include "planner/change.h"
#include "requests.h"

using namespace kvsim;
using namespace kvsim::planner;

TEST_CASE("lengths that start have gaps where the rule has them") {
  // vllm-project/vllm#10517: 20,000 starts, 29,000 is refused, 35,000 starts.
  const auto starts = [](std::int64_t n) { return n <= 28123 || (n > 32768 && n <= 70001); };
  const auto ranges = ranges_where(131072, 512, {32768, 32769}, starts);
  CHECK(ranges == std::vector<LengthRange>{{1, 28123}, {32769, 70001}});
}

TEST_CASE("a gap of one token is found at a place where rules are known to jump") {
  const auto starts = [](std::int64_t n) { return n != 4097; };
  CHECK(ranges_where(10000, 1000, {4096, 4097}, starts) ==
        std::vector<LengthRange>{{1, 4096}, {4098, 10000}});
}

TEST_CASE("every feasible length starts and its neighbours outside do not") {
  for (const auto& [model, gpu] :
       {std::pair{"gemma-3-27b", "h100-sxm"}, std::pair{"llama-3.1-8b", "rtx-3090"},
        std::pair{"llama-3.1-70b", "h100-sxm"}}) {
    Request r = request(model, gpu);
    const Feasible f = feasible_lengths(r);
    const std::string name = model;
    CAPTURE(name);
    const auto fits = [&](std::int64_t n) {
      r.options.max_model_len = n;
      return memory::size_pool(r.model, r.gpu, r.options).fits;
    };
    for (const LengthRange& range : f.ranges) {
      CHECK(fits(range.first));
      CHECK(fits(range.last));
      if (range.first > 1) CHECK_FALSE(fits(range.first - 1));
      if (range.last < f.limit) CHECK_FALSE(fits(range.last + 1));
    }
    if (f.ranges.empty()) {
      CHECK(f.largest == 0);
      for (std::int64_t n = 1; n < f.limit; n += 997) CHECK_FALSE(fits(n));
    }
  }
}

TEST_CASE("the largest length that starts may lie above the asked one") {
  Request r = request("llama-3.1-8b", "rtx-3090");
  r.options.max_model_len = 4096;
  const Feasible f = feasible_lengths(r);
  CHECK(f.limit == 131072);
  CHECK(f.largest > 4096);
  CHECK(f.largest < 131072);
  CHECK(largest_up_to(f, 4096) == 4096);
  CHECK(largest_up_to(f, 131072) == f.largest);
}

TEST_CASE("before V1 an 8B model on 24 GB starts at 20000 and 35000 tokens but not at 29000") {
  // vllm-10517-20k and vllm-10517-29k of the published starts.
  Request r = request("llama-3.1-8b", "rtx-3090");
  r.options.rules = memory::resolve_rules(memory::Engine::vllm_v1, "0.6.3");
  const Feasible f = feasible_lengths(r);
  REQUIRE(f.ranges.size() == 2);
  CHECK(f.ranges[0].first == 1);
  CHECK(f.ranges[0].last > 20000);
  CHECK(f.ranges[0].last < 29000);
  CHECK(f.ranges[1].first == 32769);
  CHECK(f.ranges[1].last > 35000);
}
