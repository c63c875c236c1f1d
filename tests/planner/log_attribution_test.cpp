#include "planner/log_attribution.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "config/document.h"
#include "spec/catalog.h"
#include "spec/weights.h"

using namespace kvsim;
using namespace kvsim::planner;
using launch::Term;

namespace {

constexpr double bytes_per_gib = 1024.0 * 1024 * 1024;

launch::EngineLog reported(const std::string& id) {
  return launch::read_engine_log(
      config::read_file(std::string(KVSIM_SOURCE_DIR) + "/tests/launch/fixtures/" + id + ".log"),
      id);
}

Request request(const char* model, const char* gpu, memory::Engine engine, const char* version) {
  static const spec::Catalog catalog;
  Request r;
  r.model = catalog.model(model);
  r.gpu = catalog.gpu(gpu);
  r.options.rules = memory::resolve_rules(engine, version);
  return r;
}

Request llama_on_3090() {
  Request r = request("llama-3.1-8b", "rtx-3090", memory::Engine::vllm_v1, "0.6.4");
  r.options.max_model_len = 20000;
  return r;
}

const LogTerm* find(const LogAttribution& a, Term term) {
  const auto at = std::find_if(a.terms.begin(), a.terms.end(),
                               [&](const LogTerm& t) { return t.term == term; });
  return at == a.terms.end() ? nullptr : &*at;
}

}  // namespace

// vllm-10517-20k: 1,952 blocks of 16 on a 3090.
TEST_CASE("every printed term of a start is held against the prediction") {
  const LogAttribution a = attribute(llama_on_3090(), reported("vllm-10517-20k"));
  REQUIRE(a.target == Term::tokens);
  CHECK(a.printed == 31232);
  REQUIRE(find(a, Term::weights));
  CHECK(find(a, Term::weights)->printed == doctest::Approx(14.9888 * bytes_per_gib));
  CHECK(std::abs(find(a, Term::weights)->predicted / find(a, Term::weights)->printed - 1) < 0.01);
  CHECK(find(a, Term::activation)->note == "peak of the tensor allocator - weights");
  CHECK(find(a, Term::kv_memory)->line == 3);
  CHECK_FALSE(find(a, Term::budget));
}

TEST_CASE("all printed terms at once give the printed tokens") {
  const LogAttribution a = attribute(llama_on_3090(), reported("vllm-10517-20k"));
  REQUIRE(a.with_all);
  CHECK(std::abs(*a.with_all - a.printed) <= 0.005 * a.printed);
}

TEST_CASE("the term that comes closest is the explanation") {
  Request r = llama_on_3090();
  // A wrong figure for one term, and no other: it must be found.
  const LogAttribution base = attribute(r, reported("vllm-10517-20k"));
  for (const Term wrong : {Term::activation, Term::non_torch}) {
    r = llama_on_3090();
    r.options.stated.activation = Bytes(std::llround(find(base, Term::activation)->printed));
    r.options.stated.non_torch = Bytes(std::llround(find(base, Term::non_torch)->printed));
    auto& stated =
        wrong == Term::activation ? r.options.stated.activation : r.options.stated.non_torch;
    stated = Bytes(stated->value() + 700 * mib);
    const LogAttribution a = attribute(r, reported("vllm-10517-20k"));
    REQUIRE(a.explanation);
    CHECK(*a.explanation == wrong);
    CHECK(std::abs(a.explained - a.printed) < 0.01 * a.printed);
    CHECK(std::abs(a.predicted - a.printed) > 0.1 * a.printed);
  }
}

// file-55002292133-tp2: the pool of a hybrid is exact once the KV memory is.
TEST_CASE("KV memory as printed gives the tokens of a hybrid exactly") {
  Request r = request("qwen3.5-9b", "rtx-5090", memory::Engine::vllm_v1, "0.19.1");
  r.options.plan.tensor_parallel_size = 2;
  r.options.max_model_len = 4096;
  r.options.memory_fraction = 0.85;
  r.options.enable_prefix_caching = false;
  const LogAttribution a = attribute(r, reported("file-55002292133-tp2"));
  REQUIRE(find(a, Term::kv_memory));
  CHECK(find(a, Term::kv_memory)->with_it == 246576);
  CHECK(find(a, Term::kv_memory)->worker == "Worker_TP0");
}

TEST_CASE("a wrong KV format is told from a wrong budget") {
  Request r = request("qwen3.5-9b", "rtx-5090", memory::Engine::vllm_v1, "0.19.1");
  r.options.plan.tensor_parallel_size = 2;
  r.options.max_model_len = 4096;
  r.options.enable_prefix_caching = false;
  r.kv_dtype = "fp8";
  const LogAttribution a = attribute(r, reported("file-55002292133-tp2"));
  CHECK_FALSE(a.explanation);
  CHECK(a.verdict.find("what a token takes") != std::string::npos);
}

// vllm-21348-sglang: 367,404 tokens in 16.46 GiB per GPU.
TEST_CASE("a pool of SGLang is compared without its states") {
  Request r = request("qwen3-235b-a22b-fp8", "h100-sxm", memory::Engine::sglang, "");
  r.options.plan.tensor_parallel_size = 4;
  r.options.memory_fraction = 0.93;
  const LogAttribution a = attribute(r, reported("vllm-21348-sglang"));
  REQUIRE(find(a, Term::kv_memory)->with_it);
  CHECK(std::abs(*find(a, Term::kv_memory)->with_it - 367404) < 0.001 * 367404);
}

TEST_CASE("a refusal is compared by its memory and its length") {
  const auto log = launch::read_engine_log(
      "To serve at least one request with the models's max seq len (262144), (62.00 GiB KV cache "
      "is "
      "needed, which is larger than the available KV cache memory (48.66 GiB). Based on the "
      "available "
      "memory, the estimated maximum model length is 205728.",
      "recipes-12-util90");
  Request r = request("qwen3-coder-480b-a35b-fp8", "h200-sxm", memory::Engine::vllm_v1, "0.10.1");
  r.options.plan.data_parallel_size = 8;
  r.options.plan.enable_expert_parallel = true;
  r.options.max_model_len = 262144;
  const LogAttribution a = attribute(r, log);
  CHECK(a.target == Term::kv_memory);
  CHECK(find(a, Term::kv_needed)->predicted == 62 * bytes_per_gib);
  CHECK_FALSE(a.with_all);
}

// club3090-104: 0.88 acts as 0.8592 on a 3090 of 23.58 GiB.
TEST_CASE("the equivalent utilization gives the estimate of the graphs") {
  const auto log = launch::read_engine_log(
      "The current --gpu-memory-utilization=0.8800 is equivalent to "
      "--gpu-memory-utilization=0.8592 without CUDA graph memory profiling.\n"
      "Available KV cache memory: 9.84 GiB\n",
      "club3090-104");
  const LogAttribution a =
      attribute(request("llama-3.1-8b", "rtx-3090", memory::Engine::vllm_v1, "0.21"), log);
  REQUIRE(find(a, Term::graph_estimate));
  CHECK(find(a, Term::graph_estimate)->printed ==
        doctest::Approx(0.0208 * 23.58 * bytes_per_gib).epsilon(0.001));
  CHECK(find(a, Term::graph_estimate)->note == "0.88 acts as 0.8592");
  CHECK(find(a, Term::graph_estimate)->with_it);
}

// club3090-104: 619,202 tokens in 9.84 GiB, two GPUs, FP8 KV, without a drafter.
TEST_CASE("a drafter that was not there is found by what a token takes") {
  const auto log = launch::read_engine_log(
      "Available KV cache memory: 9.84 GiB\nGPU KV cache size: 619,202 tokens\n", "club3090-104");
  Request r = request("qwen3.5-27b", "rtx-3090", memory::Engine::vllm_v1, "0.21");
  r.model.quantization = *spec::quantization_preset("gptq");
  r.options.plan.tensor_parallel_size = 2;
  r.options.memory_fraction = 0.88;
  r.options.max_model_len = 262144;
  r.kv_dtype = "fp8_e5m2";
  CHECK(find(attribute(r, log), Term::kv_memory)->with_it == 619202);
  r.options.drafter = memory::Drafter::mtp;
  r.options.speculative_tokens = 3;
  const LogAttribution a = attribute(r, log);
  CHECK(*find(a, Term::kv_memory)->with_it < 0.95 * 619202);
  CHECK(a.verdict.find("what a token takes") != std::string::npos);
}

// 77.62 - 30.63 - 0.143 * 77.62 = 35.89 GiB of pools.
TEST_CASE("free memory of SGLang is what its pool is a share of") {
  const auto log = launch::read_engine_log(
      "[2026-07-01 09:00:00 TP0] Load weight begin. avail mem=77.62 GB\n"
      "[2026-07-01 09:01:00 TP0] Load weight end. type=Qwen3, avail mem=46.99 GB, mem usage=30.63 "
      "GB.\n"
      "[2026-07-01 09:01:10 TP0] KV Cache is allocated. #tokens: 294034, K size: 17.95 GB, V size: "
      "17.95 GB\n",
      "log");
  Request r = request("qwen3-32b", "h100-sxm", memory::Engine::sglang, "");
  r.options.plan.tensor_parallel_size = 2;
  r.options.memory_fraction = 0.857;
  const LogAttribution a = attribute(r, log);
  REQUIRE(a.with_all);
  const double slot = 35.90 * bytes_per_gib / 294034;
  CHECK(std::abs(*a.with_all - 35.89 * bytes_per_gib / slot) < 0.005 * 294034);
}

TEST_CASE("what V1 does not print of its budget is one figure") {
  const auto log = launch::read_engine_log(
      "(Worker_TP0 pid=9) Model loading took 14.99 GiB\n"
      "(Worker_TP0 pid=9) Free memory on device (22.80/23.58 GiB) on startup. Desired GPU memory "
      "utilization is (0.9, 21.22 GiB).\n"
      "(Worker_TP0 pid=9) Available KV cache memory: 3.73 GiB\n"
      "(Worker_TP1 pid=8) Available KV cache memory: 3.73 GiB\n"
      "(EngineCore_DP0 pid=7) GPU KV cache size: 30,528 tokens\n",
      "log");
  CHECK(log.workers == std::vector<std::string>{"Worker_TP0", "Worker_TP1"});
  Request r = request("llama-3.1-8b", "rtx-3090", memory::Engine::vllm_v1, "0.11");
  r.options.max_model_len = 20000;
  r.options.stated.activation = Bytes(4 * gib);
  const LogAttribution a = attribute(r, log);
  REQUIRE(find(a, Term::residual));
  CHECK(find(a, Term::residual)->printed == doctest::Approx(2.50 * bytes_per_gib).epsilon(1e-4));
  CHECK(find(a, Term::residual)->predicted > 4 * bytes_per_gib);
  CHECK(a.explanation == Term::residual);
  CHECK(std::abs(a.explained - a.printed) < 0.01 * a.printed);
}

TEST_CASE("a term that takes away next to nothing of the difference explains nothing") {
  const auto log = launch::read_engine_log(
      "Model loading took 14.98 GiB\nGPU KV cache size: 20,000 tokens\n", "log");
  Request r = request("llama-3.1-8b", "rtx-3090", memory::Engine::vllm_v1, "0.11");
  r.options.max_model_len = 8192;
  const LogAttribution a = attribute(r, log);
  REQUIRE(find(a, Term::weights));
  CHECK_FALSE(a.explanation);
}
