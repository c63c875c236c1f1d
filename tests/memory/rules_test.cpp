#include "memory/rules.h"

#include <doctest/doctest.h>

#include "diag/diagnostic.h"
#include "memory/options.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::memory;

TEST_CASE("versions and dates fall into their ranges") {
  const auto label = [](std::string_view v) { return resolve_rules(Engine::vllm_v1, v).label; };
  CHECK(label("") == "vllm-v1 >= 0.21");
  CHECK(label("0.27.1") == "vllm-v1 >= 0.21");
  CHECK(label("v0.21.0") == "vllm-v1 >= 0.21");
  CHECK(label("1.0") == "vllm-v1 >= 0.21");
  CHECK(label("0.20.1rc1.dev16") == "vllm-v1 0.20");
  CHECK(label("0.19.1") == "vllm-v1 0.17 to 0.19");
  CHECK(label("0.9.2") == "vllm-v1 0.9.2 to 0.16");
  CHECK(label("0.8.5.post1") == "vllm-v1 0.8 to 0.9.1");
  CHECK(label("2026-08-17") == "vllm-v1 >= 0.21");
  CHECK(label("2025-12-01") == "vllm-v1 0.9.2 to 0.16");
  CHECK(resolve_rules(Engine::llamacpp, "b4500").label == "llamacpp >= b3000");
  CHECK(resolve_rules(Engine::trtllm, "1.2.1").label == "trtllm >= 0.9");
}

TEST_CASE("versions that cannot be placed are refused with the ranges") {
  for (const char* version : {"0.1.7", "latest", "0.x", "2023-01-01", "2026-13-01", "0.21-", "v"}) {
    CAPTURE(version);
    try {
      resolve_rules(Engine::vllm_v1, version);
      FAIL("accepted");
    } catch (const InputError& e) {
      CHECK(e.diagnostics().front().code == "engine-version");
      CHECK(e.diagnostics().front().hint.find("vllm-v1 >= 0.21") != std::string::npos);
    }
  }
}

TEST_CASE("batch limits follow the memory of the GPU") {
  const spec::Catalog catalog;
  const auto of = [&](const char* gpu) {
    return default_batching(resolve_rules(Engine::vllm_v1), catalog.gpu(gpu));
  };
  CHECK(of("b200-sxm").max_num_batched_tokens == 16384);
  CHECK(of("h100-sxm").max_num_batched_tokens == 8192);
  CHECK(of("h100-sxm").max_num_seqs == 1024);
  CHECK(of("a100-sxm-80g").max_num_batched_tokens == 2048);
  CHECK(of("l40s").max_num_seqs == 256);
}
