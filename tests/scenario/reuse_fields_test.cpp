#include <doctest/doctest.h>

#include <string>

#include "config/document.h"
#include "scenario/load.h"
#include "scenario/pool.h"

using namespace kvsim;

namespace {

scenario::Resolved resolved(const std::string& engine) {
  static const spec::Catalog catalog;
  return scenario::resolve(
      config::Document::parse(
          R"({"schema": "kvsim.scenario/1", "name": "t", "model": "llama-3.1-8b",
 "workload": {"generate": {"kind": "independent", "requests": 1,
   "arrival": {"process": "poisson", "rate": 1}, "input": {"value": 9}, "output": {"value": 9}}},
 "cluster": {"pools": [{"engine": {"profile": "trtllm", "gpu": "h100-sxm")" +
              engine + "}}]}}",
          "s.json"),
      ".", catalog);
}

std::string refusal(const std::string& engine) {
  try {
    resolved(engine);
  } catch (const InputError& error) {
    return error.diagnostics().front().code + ": " + error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a host cache is as many blocks as its bytes hold") {
  // 32 tokens of 128 KiB are 4 MiB a block.
  const auto s = resolved(R"(, "host_cache_size": "1GiB")");
  CHECK(scenario::limits(s.pools.front()).host_blocks == 256);
  const auto halves = resolved(R"(, "host_cache_size": "1GiB", "tensor_parallel_size": 2)");
  CHECK(scenario::limits(halves.pools.front()).host_blocks == 512);
  CHECK(scenario::limits(resolved("").pools.front()).host_blocks == 0);
}

TEST_CASE("an empty range of retention and fields without reuse are refused") {
  CHECK(
      refusal(R"(, "token_range_retention": [{"token_start": 64, "token_end": 64, "priority": 9}])")
          .rfind("retention-range", 0) == 0);
  CHECK(refusal(R"(, "token_range_retention": [{"token_start": 64, "priority": 9}])").empty());
  CHECK(refusal(R"(, "token_range_retention": [{"token_start": 64}])").rfind("missing", 0) == 0);
  const std::string off = R"(, "enable_block_reuse": false)";
  CHECK(refusal(off).empty());
  CHECK(refusal(off + R"(, "host_cache_size": "1GiB")").rfind("field-without-use", 0) == 0);
  CHECK(refusal(R"(, "secondary_offload_min_priority": 101)") != "");
}

TEST_CASE("profiles without overlap refuse async scheduling") {
  CHECK(refusal(R"(, "async_scheduling": true)").rfind("not-modelled", 0) == 0);
}
