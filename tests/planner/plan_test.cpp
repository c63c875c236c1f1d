#include "planner/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "diag/diagnostic.h"
#include "planner/search.h"
#include "requests.h"

using namespace kvsim;
using namespace kvsim::planner;

namespace {

const Advice* advice(const Plan& plan, const char* setting) {
  const auto at = std::find_if(plan.advice.begin(), plan.advice.end(),
                               [&](const Advice& a) { return a.set.front().name == setting; });
  return at == plan.advice.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("every model of the catalog can be planned on every fifth GPU") {
  std::size_t gpu_index = 0;
  for (const std::string& gpu : catalog().gpu_ids()) {
    std::size_t model_index = gpu_index++;
    for (const std::string& id : catalog().model_ids()) {
      if (model_index++ % 5 != 0) continue;
      CAPTURE(id);
      CAPTURE(gpu);
      const Plan plan = make_plan(request(id.c_str(), gpu.c_str()));
      CHECK(std::isfinite(plan.at.decode_ms));
      CHECK(plan.at.decode_ms > 0);
      CHECK(plan.at.prefill_ms > 0);
      CHECK(std::isfinite(plan.max_concurrency));
      CHECK(plan.budget <= plan.total);
      CHECK_FALSE(plan.limit.empty());
      CHECK(plan.fits == (plan.max_concurrency >= 1));
    }
  }
}

TEST_CASE("advice that says it fits does fit when followed") {
  for (const char* id : {"llama-3.1-70b", "qwen3-32b", "mixtral-8x7b", "llama-3.1-8b"}) {
    const Request asked = request(id, "rtx-3090");
    const Plan plan = make_plan(asked);
    CHECK_FALSE(plan.fits);
    INFO(std::string(id));
    if (const Advice* a = advice(plan, "max_model_len")) {
      Request r = asked;
      r.options.max_model_len = static_cast<std::int64_t>(a->set.front().number);
      CHECK(make_plan(r).fits == a->fits);
      CHECK(a->fits);
    }
    if (const Advice* a = advice(plan, "tensor_parallel_size")) {
      Request r = asked;
      r.options.plan.tensor_parallel_size = static_cast<int>(a->set.front().number);
      CHECK(make_plan(r).fits);
      r.options.plan.tensor_parallel_size /= 2;
      CHECK_FALSE(make_plan(r).fits);
    }
  }
}

TEST_CASE("the explorer holds more requests with fewer bits and shorter contexts") {
  const Plan plan = make_plan(request("qwen3-32b", "h200-sxm"));
  REQUIRE(plan.explorer.rows.size() == 5);
  REQUIRE(plan.explorer.contexts.front() == 2048);
  REQUIRE(plan.explorer.contexts.back() == 1048576);
  for (std::size_t r = 0; r < plan.explorer.rows.size(); ++r)
    for (std::size_t c = 0; c < plan.explorer.contexts.size(); ++c) {
      const auto& row = plan.explorer.rows[r];
      if (c > 0) CHECK(row.requests[c] <= row.requests[c - 1]);
      if (r > 0) CHECK(row.requests[c] >= plan.explorer.rows[r - 1].requests[c]);
    }
}

TEST_CASE("the point counts KV over all GPUs and says when it does not fit") {
  Request r = request("llama-3-70b", "h100-sxm", 8);
  r.context = 8192;
  r.batch = 32;
  const Plan plan = make_plan(r);
  CHECK(plan.at.kv_bytes.value() == 80 * gib);
  CHECK(plan.at.kv_fits);
  r.batch = 100000;
  const Plan full = make_plan(r);
  CHECK_FALSE(full.at.kv_fits);
  CHECK(full.at.binds == "KV capacity");
  CHECK(full.warnings.size() == plan.warnings.size() + 1);
}

TEST_CASE("more hardware never worsens a plan") {
  Request base = request("llama-3.1-70b", "h100-sxm", 4);
  base.context = 4096;
  base.batch = 64;
  base.options.max_num_seqs = 256;
  base.options.max_num_batched_tokens = 8192;
  const Plan before = make_plan(base);
  for (double factor : {1.1, 1.5, 2.0, 4.0}) {
    Request r = base;
    r.gpu.memory_bandwidth = r.gpu.memory_bandwidth * factor;
    CHECK(make_plan(r).at.decode_ms <= before.at.decode_ms);
    r = base;
    r.gpu.bf16_tflops *= factor;
    CHECK(make_plan(r).at.prefill_ms <= before.at.prefill_ms);
    r = base;
    r.gpu.memory_reported = Bytes(
        static_cast<std::int64_t>(static_cast<double>(r.gpu.usable_memory().value()) * factor));
    CHECK(make_plan(r).tokens >= before.tokens);
  }
}

TEST_CASE("a split that does not divide the heads is refused") {
  try {
    make_plan(request("llama-3-70b", "h100-sxm", 3));
    FAIL("accepted");
  } catch (const InputError& e) {
    CHECK(e.diagnostics().front().code == "parallel-plan");
  }
}

TEST_CASE("search ranks what fits by throughput and marks what nobody beats") {
  Request r = request("llama-3.1-70b", "h100-sxm");
  r.context = 4096;
  const auto list = search_deployments(r, 8);
  REQUIRE(list.size() >= 10);
  CHECK(list.front().fits);
  CHECK(list.front().pareto);
  bool failed = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    CHECK(list[i].plan.gpus() == 8);
    if (!list[i].fits) failed = true;
    CHECK(list[i].fits != failed);
    CHECK_FALSE(list[i].why.empty());
    if (i > 0 && list[i].fits)
      CHECK(list[i].tokens_per_s_per_gpu <= list[i - 1].tokens_per_s_per_gpu);
  }
}
