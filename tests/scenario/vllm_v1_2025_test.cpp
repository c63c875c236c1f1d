#include <doctest/doctest.h>

#include "config/document.h"
#include "scenario/load.h"
#include "scenario/run.h"

using namespace kvsim;

namespace {

scenario::Resolved resolve(const std::string& engine) {
  static const spec::Catalog catalog;
  return scenario::resolve(
      config::Document::parse(R"({"schema":"kvsim.scenario/1","model":"llama-3.1-8b",
 "workload":{"generate":{"kind":"independent","requests":5,"arrival":{"process":"poisson","rate":5},
 "input":{"value":50},"output":{"value":5}}},
 "cluster":{"pools":[{"engine":{"gpu":"h100-sxm")" +
                                  engine + "}}]}}",
                              "s.json"),
      "", catalog);
}

std::string refusal(const std::string& engine) {
  try {
    resolve(engine);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_SUITE("scenario/vllm_v1_2025") {
  TEST_CASE("in 2025 nine tenths of the memory were taken and graphs lay outside the budget") {
    const auto now = resolve(""), then = resolve(R"(,"profile":"vllm-v1-2025")");
    CHECK(*now.pools[0].config.gpu_memory_utilization == 0.92);
    CHECK(*then.pools[0].config.gpu_memory_utilization == 0.90);
    CHECK(now.pools[0].size.options.rules.graphs_in_budget);
    CHECK_FALSE(then.pools[0].size.options.rules.graphs_in_budget);
    CHECK(then.pools[0].size.options.rules.label == "vllm-v1 0.9.2 to 0.16");
    CHECK_FALSE(*then.pools[0].config.async_scheduling);
    CHECK(scenario::run(then).engines[0].profile == "vllm-v1-2025");
  }

  TEST_CASE("the profile of 2025 takes the memory rules of every version before 2026-05") {
    const auto of = [](const char* version) {
      return resolve(R"(,"profile":"vllm-v1-2025","engine_version":")" + std::string(version) +
                     "\"")
          .pools[0]
          .size.options.rules.label;
    };
    CHECK(of("0.8.5") == "vllm-v1 0.8 to 0.9.1");
    CHECK(of("2025-12-01") == "vllm-v1 0.9.2 to 0.16");
    CHECK(of("0.18") == "vllm-v1 0.17 to 0.19");
    CHECK(has(refusal(R"(,"profile":"vllm-v1-2025","engine_version":"0.21")"), "in 2025"));
    CHECK(has(refusal(R"(,"profile":"vllm-v1-2025","engine_version":"0.6.6")"), "0.8"));
  }

  TEST_CASE("a gate on the full input is refused where the version has none") {
    CHECK(*resolve("").pools[0].config.scheduler_reserve_full_isl);
    const auto then = resolve(R"(,"profile":"vllm-v1-2025")");
    CHECK_FALSE(*then.pools[0].config.scheduler_reserve_full_isl);
    CHECK(has(refusal(R"(,"profile":"vllm-v1-2025","scheduler_reserve_full_isl":true)"),
              "first chunk"));
    CHECK(refusal(R"(,"profile":"vllm-v1-2025","scheduler_reserve_full_isl":false)").empty());
  }
}
