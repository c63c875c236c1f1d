#include "planner/against.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "planner/answers.h"
#include "planner/change.h"
#include "requests.h"

using namespace kvsim;
using namespace kvsim::planner;

namespace {

const Against::Term& term(const Against& a, const char* name) {
  const auto at = std::ranges::find(a.terms, name, &Against::Term::name);
  REQUIRE(at != a.terms.end());
  return *at;
}

Against against(const Request& here, const Request& there) {
  return compare_plans(answer(here), answer(there), "flags");
}

}  // namespace

TEST_CASE("the differences of the terms add up to the difference of the KV") {
  const Request here = request("llama-3.1-8b", "l40s");
  Request there = request("llama-3.1-8b", "h100-sxm");
  there.options.max_num_seqs = 64;
  const Against a = against(here, there);
  std::int64_t taken = 0;
  for (const auto& t : a.terms)
    if (t.in_budget && t.name != "KV cache") taken += t.difference().value();
  CHECK(term(a, "KV cache").difference().value() == term(a, "budget").difference().value() - taken);
  CHECK(term(a, "GPU").here == here.gpu.usable_memory());
  CHECK(term(a, "GPU").there == there.gpu.usable_memory());
  CHECK(a.explains.starts_with("budget"));
}

TEST_CASE("the same deployment differs in nothing") {
  const Request r = request("gemma-3-27b", "h200-sxm");
  const Against a = against(r, r);
  for (const auto& t : a.terms) CHECK(t.difference().value() == 0);
  CHECK(a.explains.starts_with("nothing"));
  CHECK(a.fits);
}

TEST_CASE("the cause that explains most is the one that changed") {
  const Request r = request("llama-3.1-8b", "l40s");
  CHECK(against(r, changed(r, std::vector{word("kv_cache_dtype", "fp8")}))
            .explains.starts_with("KV bytes per token"));
  CHECK(against(r, changed(r, std::vector{word("enforce_eager", "true")}))
            .explains.starts_with("CUDA graphs"));
  CHECK(against(r, changed(r, std::vector{number("gpu_memory_utilization", 0.5)}))
            .explains.starts_with("budget"));
  CHECK(against(r, changed(r, std::vector{word("quantization", "awq")}))
            .explains.starts_with("weights: dense MLP"));
  const Request hybrid = request("gemma-3-27b", "h200-sxm");
  CHECK(against(hybrid, changed(hybrid, std::vector{number("max_model_len", 8192)}))
            .explains.starts_with("max_model_len"));
}

TEST_CASE("a refused deployment is compared by what it lacks") {
  const Request here = request("llama-3.1-70b", "h100-sxm");
  const Against a = against(here, request("llama-3.1-70b", "h100-sxm", 4));
  CHECK(term(a, "missing").here.value() > 0);
  CHECK(term(a, "missing").there.value() == 0);
  CHECK(a.explains.starts_with("weights: dense MLP"));
  CHECK(a.gpus == 4);
  CHECK(a.fits);
}
