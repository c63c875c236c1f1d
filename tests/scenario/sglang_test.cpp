// How scenarios settle what SGLang decides at its start.
#include "scenario/sglang.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "config/document.h"
#include "memory/options.h"
#include "scenario/load.h"
#include "scenario/run.h"

using namespace kvsim;

namespace {

std::string text(const std::string& engine) {
  return fmt::format(R"({{"schema":"kvsim.scenario/1","name":"t","model":"llama-3.1-8b","seed":1,
    "workload":{{"generate":{{"kind":"independent","requests":40,
      "arrival":{{"process":"poisson","rate":20}},"input":{{"value":300}},"output":{{"value":40}}}}}},
    "cluster":{{"pools":[{{"engine":{{"profile":"sglang","gpu":"h100-sxm"{}}}}}]}}}})",
                     engine);
}
scenario::Resolved resolve(const std::string& engine) {
  static const spec::Catalog catalog;
  return scenario::resolve(config::Document::parse(text(engine), "s.json"), ".", catalog);
}
engine::EngineConfig resolved(const std::string& engine) {
  return resolve(engine).pools.front().config;
}
std::string refusal(const std::string& engine) {
  try {
    resolve(engine);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}
bool warns(const std::string& engine, const std::string& part) {
  for (const std::string& warning : resolve(engine).warnings)
    if (warning.find(part) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_SUITE("scenario/sglang") {
  TEST_CASE("the most running requests follow pool and context between 2048 and 4096") {
    CHECK(memory::sglang_max_running(400'000, 131'072, 0) == 2048);
    CHECK(memory::sglang_max_running(400'000, 65'536, 0) == 3125);
    CHECK(memory::sglang_max_running(4'000'000, 8'192, 0) == 4096);
    // Half the slots, and the sequences whose state has room.
    CHECK(memory::sglang_max_running(1'000, 8'192, 0) == 500);
    CHECK(memory::sglang_max_running(400'000, 131'072, 37) == 37);
    CHECK(*resolved(R"(,"context_length":8192)").max_num_seqs == 4096);
    CHECK(*resolved(R"(,"max_running_requests":7)").max_num_seqs == 7);
  }

  TEST_CASE("two names of one setting agree") {
    CHECK(resolved(R"(,"enable_prefix_caching":false)").sglang.disable_radix_cache);
    CHECK_FALSE(resolved(R"(,"disable_radix_cache":true)").enable_prefix_caching);
    CHECK(*resolved(R"(,"enable_chunked_prefill":false)").sglang.chunked_prefill_size == -1);
    CHECK_FALSE(resolved(R"(,"chunked_prefill_size":-1)").enable_chunked_prefill);
    CHECK(*resolved("").sglang.chunked_prefill_size == 8192);
  }

  TEST_CASE("what SGLang refuses together is refused") {
    CHECK(refusal(R"(,"enable_priority_scheduling":true,"schedule_policy":"lpm")")
              .find("fcfs and lof") != std::string::npos);
    CHECK(refusal(R"(,"enable_priority_scheduling":true,"schedule_policy":"lof")").empty());
    CHECK(refusal(R"(,"enable_hierarchical_cache":true,"disable_radix_cache":true)")
              .find("radix tree") != std::string::npos);
  }

  TEST_CASE("settings without effect are said") {
    CHECK(warns(R"(,"schedule_policy":"lpm","disable_radix_cache":true)", "lpm is fcfs"));
    CHECK(warns(R"(,"enable_mixed_chunk":true,"chunked_prefill_size":-1)", "no effect"));
    CHECK(warns(R"(,"page_size":64,"chunked_prefill_size":100)", "no multiple of page_size"));
    CHECK_FALSE(warns(R"(,"page_size":64,"chunked_prefill_size":128)", "page_size"));
  }

  TEST_CASE("a run under sglang ends with every request served and says its own steps") {
    for (const char* engine : {"", R"(,"async_scheduling":true)", R"(,"page_size":64)"}) {
      const metrics::RunResult result = scenario::run(resolve(engine));
      CHECK(result.complete);
      CHECK(result.summary.completed == 40);
      CHECK(result.summary.failed == 0);
    }
  }

  TEST_CASE("decode graphs are captured up to the size that the memory of the GPU gives") {
    const spec::Catalog catalog;
    CHECK(memory::sglang_graph_batch(catalog.resolve_gpu("h100-sxm"), 1) == 256);
    CHECK(memory::sglang_graph_batch(catalog.resolve_gpu("h100-sxm"), 4) == 512);
  }
}
