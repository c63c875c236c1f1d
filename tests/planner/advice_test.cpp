#include "planner/advice.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "planner/answers.h"
#include "planner/change.h"
#include "requests.h"

using namespace kvsim;
using namespace kvsim::planner;

namespace {

std::vector<spec::GpuSpec> all_gpus() {
  std::vector<spec::GpuSpec> list;
  for (const std::string& id : catalog().gpu_ids()) list.push_back(catalog().gpu(id));
  return list;
}

const Setting* find(const Advice& advice, const char* name) {
  const auto at = std::ranges::find(advice.set, name, &Setting::name);
  return at == advice.set.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("a refusal names its largest term and what a request lacks") {
  const Plan weights = answer(request("llama-3.1-70b", "h100-sxm"));
  CHECK(weights.binding.term == "weights");
  CHECK(weights.binding.line == "weights: dense MLP");
  CHECK(weights.binding.bytes <= weights.weights);  // rotary tables are a line of their own
  CHECK(weights.binding.bytes.value() > weights.weights.value() / 100 * 99);
  CHECK(weights.binding.kv_needed.value() == 0);
  const Plan kv = answer(request("llama-3.1-8b", "rtx-3090"));
  CHECK(kv.binding.kv_needed.value() == 131072LL * 131072);
  CHECK(kv.binding.kv_there == kv.kv);
  CHECK(kv.binding.kv_there < kv.binding.kv_needed);
}

TEST_CASE("where no single setting does two that do are named") {
  const Plan plan = make_plan(request("llama-3.1-70b", "h100-sxm"));
  REQUIRE_FALSE(plan.fits);
  CHECK(find(plan.advice.front(), "kv_cache_dtype"));
  CHECK(find(plan.advice.front(), "quantization"));
  const bool shorter = std::ranges::any_of(plan.advice, [](const Advice& a) {
    return a.fits && find(a, "quantization") && find(a, "max_model_len");
  });
  CHECK(shorter);
}

TEST_CASE("advice that fits comes first and is true when followed") {
  const auto gpus = all_gpus();
  for (const auto& [model, gpu, tp] :
       {std::tuple{"llama-3.1-70b", "rtx-3090", 1}, std::tuple{"gemma-3-27b", "rtx-4090", 1},
        std::tuple{"llama-3.1-405b", "h100-sxm", 8}, std::tuple{"deepseek-v3", "l40s", 2},
        std::tuple{"qwen3-next-80b-a3b", "a100-sxm-80g", 1}}) {
    const Request r = request(model, gpu, tp);
    Questions questions;
    questions.gpus = gpus;
    const Plan plan = answer(r, questions);
    const std::string name = model;
    CAPTURE(name);
    REQUIRE_FALSE(plan.fits);
    REQUIRE_FALSE(plan.advice.empty());
    CHECK(plan.advice.front().fits);
    for (const Advice& a : plan.advice) {
      const auto pool = try_pool(changed(r, a.set, gpus));
      REQUIRE(pool);
      CHECK(pool->fits == a.fits);
    }
  }
}

TEST_CASE("a larger GPU is named only when this one cannot do") {
  Questions questions;
  questions.gpus = all_gpus();
  const Plan small = answer(request("deepseek-v4-pro", "t4"), questions);
  REQUIRE(find(small.advice.front(), "gpu"));
  CHECK_FALSE(small.nothing_fits);
  for (const Advice& a : answer(request("llama-3.1-70b", "t4"), questions).advice)
    CHECK_FALSE(find(a, "gpu"));
}

TEST_CASE("host memory for weights is the fewest whole gibibytes that do") {
  const Request r = request("llama-3.1-8b", "rtx-3090");
  const Plan plan = make_plan(r);
  const auto at =
      std::ranges::find_if(plan.advice, [](const Advice& a) { return find(a, "cpu_offload"); });
  REQUIRE(at != plan.advice.end());
  const double bytes = find(*at, "cpu_offload")->number;
  CHECK(try_pool(changed(r, std::vector{number("cpu_offload", bytes)}))->fits);
  CHECK_FALSE(try_pool(changed(r, std::vector{number("cpu_offload", bytes - gib)}))->fits);
}

TEST_CASE("a deployment that fits is told what would let it hold more") {
  const Plan plan = make_plan(request("llama-3.1-8b", "h100-sxm"));
  REQUIRE(plan.fits);
  for (const Advice& a : plan.advice) {
    CHECK(a.fits);
    CHECK(a.set.size() == 1);
    CHECK(a.gain.starts_with("KV tokens"));
  }
}

TEST_CASE("a given pool that is too small is answered with one that holds a request") {
  Request r = request("deepseek-v3.2", "h200-sxm", 8);
  r.options.kv_cache_memory = {Bytes(1)};
  Questions questions;
  questions.gpus = all_gpus();
  const Plan plan = answer(r, questions);
  REQUIRE_FALSE(plan.fits);
  CHECK(plan.kv_given);
  REQUIRE(plan.advice.size() == 1);
  CHECK(plan.advice.front().fits);
  const double bytes = find(plan.advice.front(), "kv_cache_memory_bytes")->number;
  CHECK(try_pool(changed(r, plan.advice.front().set))->fits);
  CHECK_FALSE(
      try_pool(changed(r, std::vector{number("kv_cache_memory_bytes", bytes * 0.99)}))->fits);
}

TEST_CASE("a given pool that is too large is answered with what the GPU leaves") {
  Request r = request("llama-3.1-8b", "l40s");
  r.options.kv_cache_memory = {Bytes(40 * gib)};
  const Plan plan = make_plan(r);
  REQUIRE_FALSE(plan.fits);
  const Setting* size = find(plan.advice.front(), "kv_cache_memory_bytes");
  REQUIRE(size);
  CHECK(try_pool(changed(r, plan.advice.front().set))->fits);
  CHECK(size->number < 40.0 * gib);
  CHECK_FALSE(
      try_pool(changed(r, std::vector{number(size->name, size->number + 0.2 * gib)}))->fits);
}

TEST_CASE("a pool too small on a GPU too small is answered with both") {
  Request r = request("llama-3.1-70b", "t4");
  r.options.kv_cache_memory = {Bytes(1)};
  Questions questions;
  questions.gpus = all_gpus();
  const Plan plan = answer(r, questions);
  REQUIRE_FALSE(plan.advice.empty());
  CHECK(plan.advice.front().fits);
  CHECK(find(plan.advice.front(), "kv_cache_memory_bytes"));
  CHECK(try_pool(changed(r, plan.advice.front().set, questions.gpus))->fits);
  CHECK_FALSE(plan.nothing_fits);
}

TEST_CASE("advice on the batch gains at least three percent") {
  for (const char* gpu : {"l40s", "h100-sxm", "h200-sxm"}) {
    const Request r = request("llama-3.1-8b", gpu);
    const Plan plan = make_plan(r);
    for (const Advice& a : plan.advice)
      if (find(a, "max_num_seqs"))
        CHECK(static_cast<double>(try_pool(changed(r, a.set))->tokens) >=
              1.03 * static_cast<double>(plan.tokens));
  }
}
