#include "planner/smallest.h"

#include <doctest/doctest.h>

#include <string>

#include "planner/change.h"
#include "planner/search.h"
#include "requests.h"

using namespace kvsim;
using namespace kvsim::planner;

namespace {

bool fits(const Request& r, const Setting& s) {
  const auto pool = try_pool(changed(r, std::vector{s}));
  return pool && pool->fits;
}

}  // namespace

TEST_CASE("the smallest split fits and every smaller one does not") {
  for (const auto& [model, gpu, tp] :
       {std::tuple{"llama-3.1-70b", "h100-sxm", 1}, std::tuple{"llama-3.1-70b", "h100-sxm", 8},
        std::tuple{"qwen3-32b", "rtx-4090", 2}, std::tuple{"deepseek-v3", "h200-sxm", 8}}) {
    const Request r = request(model, gpu, tp);
    const std::string name = model;
    CAPTURE(name);
    for (const Smallest& s : smallest_that_fit(r)) {
      CAPTURE(s.name);
      if (!s.found || !s.found->word.empty()) continue;
      CHECK(fits(r, *s.found));
      for (int n = 1; n < static_cast<int>(s.found->number); ++n)
        CHECK_FALSE(fits(r, number(s.name, n)));
    }
  }
}

TEST_CASE("a deployment that fits already says how far down one could go") {
  const auto list = smallest_that_fit(request("llama-3.1-8b", "h100-sxm", 8));
  REQUIRE(list.size() == 4);
  CHECK(list[0].found->number == 1);
  CHECK_FALSE(list[0].same);
  CHECK(list[0].asked == "8");
  CHECK(list[2].same);
  CHECK(list[2].found->word == "bfloat16");
  CHECK(list[3].found->word == "none");
}

TEST_CASE("the widest format is the first of the engines own that fits") {
  Request r = request("gemma-3-27b", "h100-sxm");
  const auto list = smallest_that_fit(r);
  CHECK(list[2].found->word == "fp8_e4m3");
  CHECK(list[3].found->word == "fp8");
  r.options.rules = memory::resolve_rules(memory::Engine::llamacpp);
  CHECK(engine_kv_formats(r).front() == "float16");
  CHECK(engine_weight_formats(r).back() == "gguf");
}

TEST_CASE("terms stated for one deployment are not kept for another") {
  Request r = request("llama-3.1-70b", "h100-sxm");
  r.options.stated.weights = Bytes(70 * gib);
  r.options.kv_cache_memory = {Bytes(3), Bytes(2)};
  const Request split = changed(r, std::vector{number("tensor_parallel_size", 4)});
  CHECK_FALSE(split.options.stated.weights);
  CHECK(split.options.kv_cache_memory == std::vector{Bytes(2)});
  const Request shorter = changed(r, std::vector{number("max_model_len", 4096)});
  CHECK(shorter.options.stated.weights);
}

TEST_CASE("another split of layers or workers leaves no list of the wrong length") {
  Request r = request("llama-3.1-8b", "l40s");
  r.options.plan.pipeline_parallel_size = 2;
  r.options.plan.layer_partition = {20, 12};
  r.options.total_memory = {Bytes(40 * gib), Bytes(30 * gib)};
  const Request wider = changed(r, std::vector{number("pipeline_parallel_size", 4)});
  CHECK(wider.options.plan.layer_partition.empty());
  CHECK(wider.options.total_memory == std::vector{Bytes(30 * gib)});
  CHECK(try_pool(wider));
  CHECK(smallest_that_fit(r).size() == 4);
  const Request same = changed(r, std::vector{number("pipeline_parallel_size", 2)});
  CHECK(same.options.plan.layer_partition.size() == 2);
  for (const Candidate& c : search_deployments(r, 4)) CHECK(c.plan.gpus() == 4);
}
