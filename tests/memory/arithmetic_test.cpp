#include <doctest/doctest.h>

#include <cmath>
#include <tuple>

#include "memory/pool.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::memory;

namespace {

Pool sized(std::optional<Bytes> kv) {
  static const spec::Catalog catalog;
  Options o;
  o.kv_dtype = *kvformat::find_kv_dtype("bf16");
  o.max_model_len = 8192;
  if (kv) o.kv_cache_memory = {*kv};
  return size_pool(catalog.model("llama-3.1-8b"), catalog.gpu("h100-sxm"), o);
}

}  // namespace

TEST_CASE("forty gibibytes of KV are 20480 blocks of a model with 32 layers") {  // KV-16
  const Pool pool = sized(Bytes(40 * gib));
  CHECK(pool.layout.block_bytes == Bytes(32 * 65536));
  CHECK(pool.num_gpu_blocks == 20480);
  CHECK(pool.tokens == 327680);
  CHECK(pool.max_concurrency == doctest::Approx(40));
}

TEST_CASE("a script takes larger steps than the server where the GPU is below 160 GiB") {
  static const spec::Catalog catalog;
  const Rules rules = resolve_rules(Engine::vllm_v1);
  const auto tokens = [&](const char* gpu, UsageContext usage) {
    return default_batching(rules, catalog.gpu(gpu), usage).max_num_batched_tokens;
  };
  for (const auto& [gpu, server, script] :
       std::initializer_list<std::tuple<const char*, std::int64_t, std::int64_t>>{
           {"b200-sxm", 16384, 16384}, {"h100-sxm", 8192, 16384}, {"a100-sxm-80g", 2048, 8192}}) {
    CHECK(tokens(gpu, UsageContext::api_server) == server);
    CHECK(tokens(gpu, UsageContext::llm_class) == script);
  }
}

TEST_CASE("the KV pool is the budget less weights and activations and graphs and the rest") {
  const Ledger l = sized(std::nullopt).ledger;  // KV-16
  const auto budget =
      static_cast<std::int64_t>(std::ceil(0.92 * static_cast<double>(l.total.value())));
  CHECK(l.kv == Bytes(budget) - l.weights - l.activation - l.non_torch - l.cuda_graphs);
}
