#include <doctest/doctest.h>

#include <algorithm>

#include "kvformat/footprint.h"
#include "memory/pool.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::memory;

namespace {

const spec::Catalog& catalog() {
  static const spec::Catalog all;
  return all;
}
Bytes from_gib(double x) { return Bytes(static_cast<std::int64_t>(x * static_cast<double>(gib))); }

Options given(double kv_gib, std::int64_t length, const char* kv = "bf16", int tp = 1,
              const char* version = "") {
  Options o;
  o.rules = resolve_rules(Engine::vllm_v1, version);
  o.kv_dtype = *kvformat::find_kv_dtype(kv);
  o.kv_cache_memory = {from_gib(kv_gib)};
  o.max_model_len = length;
  o.plan.tensor_parallel_size = tp;
  return o;
}

// Gated DeltaNet hybrids as the reported starts had them: every fourth layer is attention.
spec::ModelSpec delta_net(std::int64_t layers, std::int64_t kv_heads, std::int64_t value_heads) {
  spec::ModelSpec m;
  m.id = "delta-net";
  m.num_layers = layers;
  m.hidden_size = 1024;
  m.vocab_size = 1024;
  m.intermediate_size = 2048;
  m.max_position_embeddings = 1 << 20;
  spec::LayerGroup state, full;
  state.name = "linear";
  state.attention = spec::AttentionKind::recurrent;
  state.recurrent.emplace();
  auto& r = *state.recurrent;
  r.key_heads = 16, r.value_heads = value_heads, r.key_dim = r.value_dim = 128, r.conv_kernel = 4;
  r.conv_channels = 2 * 16 * 128 + value_heads * 128;
  full.name = "full";
  full.num_heads = 24, full.num_kv_heads = kv_heads, full.head_dim = 256;
  m.layer_groups = {state, full};
  m.layer_pattern = {"linear", "linear", "linear", "full"};
  Diagnostics problems;
  spec::finalize(m, "test", problems);
  problems.throw_if_errors();
  return m;
}

}  // namespace

TEST_CASE("plain attention gives whole blocks of sixteen tokens") {
  const Pool pool =
      size_pool(catalog().model("llama-3.1-8b"), catalog().gpu("h100-sxm"), given(40, 8192));
  CHECK(pool.num_gpu_blocks == 20480);
  CHECK(pool.tokens == 327680);
  CHECK(pool.max_concurrency == 40.0);
  CHECK(pool.ledger.kv == from_gib(40));
  CHECK(pool.fits);
  CHECK(pool.engine_log[1] == "GPU KV cache size: 327,680 tokens");
  CHECK(pool.engine_log[2] == "Maximum concurrency for 8,192 tokens per request: 40.00x");
}

// Each row is a start that a user published: KV memory printed with two decimals, tokens exact.
TEST_CASE("attention and recurrent layers share pages as published starts print") {
  const auto big = delta_net(64, 4, 48);
  const auto gpu = catalog().gpu("rtx-3090");
  auto near_printed = [&](const spec::ModelSpec& model, Options o, std::int64_t printed) {
    const Pool pool = size_pool(model, gpu, o);
    // One block more or less is within the rounding of the printed gigabytes.
    const double slack = static_cast<double>(o.max_model_len) /
                         static_cast<double>(pool.layout.blocks_for(o.max_model_len));
    CHECK(std::abs(static_cast<double>(pool.tokens - printed)) <= slack + 1);
    return pool;
  };
  // vLLM rows talos-1995 and club3090-104 of the capacity reports.
  const Pool first = near_printed(big, given(4.99, 131072, "fp8", 2), 302921);
  CHECK(first.block_tokens == 1568);
  CHECK(first.layout.groups.size() == 4);
  near_printed(big, given(9.84, 262144, "fp8_e5m2", 2), 619202);
  // Drafting by one MTP layer with three tokens: groups of 17, three padding layers.
  Options drafting = given(10, 262144, "fp8", 2);
  drafting.speculative_tokens = 3;
  drafting.draft_layers = 1;
  const Pool draft = size_pool(big, gpu, drafting);
  CHECK(draft.layout.group_size == 17);
  CHECK(draft.layout.padding_layers == 3);
  CHECK(423 * 262144 / draft.layout.blocks_for(262144) == 619479);
  CHECK(425 * 262144 / draft.layout.blocks_for(262144) == 622408);
  // Sixteen-bit states on one GPU, beside fp8 and bf16 attention (tanguille-4509-a and
  // file-68835604738-92, with the settings that make the count come out).
  Options halved = given(3.22, 98000, "fp8");
  halved.state_dtype = spec::DType::float16;
  near_printed(big, halved, 99519);
  Options next = given(16.63, 131072);
  next.state_dtype = spec::DType::float16;
  near_printed(delta_net(48, 2, 32), next, 708425);
  // One drafted token from one MTP layer, printed as whole blocks (file-53530895476-122b-mtp).
  Options mtp = given(24.05, 262144, "fp8", 1, "0.19");
  mtp.speculative_tokens = 1;
  mtp.draft_layers = 1;
  mtp.enable_prefix_caching = true;
  CHECK(size_pool(delta_net(48, 2, 64), gpu, mtp).tokens == 482080);
  // Before 0.20: tokens are whole blocks, and recurrent models start without prefix caching.
  const Pool old = size_pool(delta_net(32, 4, 32), gpu, given(15.06, 4096, "bf16", 2, "0.19"));
  CHECK(old.tokens == 246576);
}

TEST_CASE("windows cost their reach and one block more") {
  const Pool now =
      size_pool(catalog().model("gemma-3-27b"), catalog().gpu("h200-sxm"), given(109.86, 4096));
  CHECK(now.layout.groups.size() == 7);
  CHECK(now.layout.group_size == 10);
  CHECK(now.max_concurrency == doctest::Approx(50.05).epsilon(0.0002));
  const Pool before = size_pool(catalog().model("gemma-3-27b"), catalog().gpu("h200-sxm"),
                                given(109.86, 4096, "bf16", 1, "0.12"));
  CHECK(before.tokens == 205696);
}

TEST_CASE("unequal pages once charged every layer the widest one") {
  const auto model = catalog().model("gemma-4-31b");
  const auto gpu = catalog().gpu("a100-sxm-80g");
  const Pool before = size_pool(model, gpu, given(50, 32768, "bf16", 1, "0.20"));
  CHECK(before.tokens == doctest::Approx(54613).epsilon(0.002));
  const Pool after = size_pool(model, gpu, given(50, 32768, "bf16", 1, "0.21"));
  CHECK(after.tokens > 4 * before.tokens);
}

TEST_CASE("the budget adds up and everything it holds is named") {
  for (const char* id : {"llama-3.1-70b", "deepseek-v3", "gpt-oss-120b", "qwen3-next-80b-a3b",
                         "gemma-3-27b", "mixtral-8x7b"})
    for (Engine engine : {Engine::vllm_v1, Engine::sglang, Engine::trtllm, Engine::static_batching,
                          Engine::llamacpp})
      for (int tp : {1, 2, 4}) {
        Options o;
        o.rules = resolve_rules(engine);
        o.kv_dtype = *kvformat::find_kv_dtype("bf16");
        o.plan.tensor_parallel_size = tp;
        const auto model = catalog().model(id);
        if (!kvformat::parallel_problem(model, o.plan).empty()) continue;
        CAPTURE(id);
        CAPTURE(std::string(name(engine)));
        const Pool pool = size_pool(model, catalog().gpu("h200-sxm"), o);
        pool.ledger.check();
        CHECK(pool.ledger.budget <= pool.ledger.total);
        CHECK(pool.ledger.kv.value() >= 0);
        // llama.cpp allocates what the context asks for; what is missing is the shortfall.
        if (engine != Engine::llamacpp)
          CHECK((pool.ledger.kv.value() == 0 || pool.ledger.shortfall.value() == 0));
        CHECK(pool.engine_log.size() >= 1);
      }
}

TEST_CASE("a model that does not fit says by how much and keeps the document complete") {
  Options o;
  o.kv_dtype = *kvformat::find_kv_dtype("bf16");
  const Pool pool = size_pool(catalog().model("llama-3.1-405b"), catalog().gpu("h100-sxm"), o);
  CHECK_FALSE(pool.fits);
  CHECK(pool.ledger.shortfall.value() > 0);
  CHECK(pool.tokens == 0);
  CHECK(pool.feasible_len == 0);
  CHECK(pool.limit.find("memory") == 0);
}

TEST_CASE("the longest feasible request is where the pool ends") {
  Options o = given(3.81, 131072);
  const Pool pool = size_pool(catalog().model("llama-3.1-8b"), catalog().gpu("rtx-3090"), o);
  CHECK_FALSE(pool.fits);
  CHECK(pool.feasible_len == 31200);  // 1,950 blocks of 16 hold in 3.81 GiB
  o.max_model_len = pool.feasible_len;
  CHECK(size_pool(catalog().model("llama-3.1-8b"), catalog().gpu("rtx-3090"), o).fits);
}

TEST_CASE("the poorest pipeline stage sizes the pool") {
  Options o;
  o.kv_dtype = *kvformat::find_kv_dtype("bf16");
  o.plan.pipeline_parallel_size = 3;
  const Pool pool = size_pool(catalog().model("llama-3.1-70b"), catalog().gpu("h100-sxm"), o);
  CHECK(pool.footprint.bytes_per_token >= 26 * 4096);
  CHECK(pool.stage >= 0);
}

TEST_CASE("more memory or fewer bytes never shrink the pool") {
  const auto model = catalog().model("qwen3-32b");
  spec::GpuSpec gpu = catalog().gpu("h100-sxm");
  Options o;
  std::int64_t last = -1;
  for (const char* kv : {"f32", "bf16", "q8_0", "fp8", "nvfp4", "int4", "int2"}) {
    o.kv_dtype = *kvformat::find_kv_dtype(kv);
    const Pool pool = size_pool(model, gpu, o);
    CHECK(pool.tokens >= last);
    last = pool.tokens;
  }
  last = -1;
  for (std::int64_t size : {40, 64, 80, 100, 141}) {
    gpu.memory_reported = Bytes(size * gib);
    gpu.memory = Bytes(size * gib);
    o.max_num_seqs = 256, o.max_num_batched_tokens = 8192;
    const Pool pool = size_pool(model, gpu, o);
    CHECK(pool.tokens >= last);
    last = pool.tokens;
  }
}

// file-9297248278 prints 8 padding layers and 15.38 %; a 27 B hybrid with an MTP layer prints 3 and
// 6.25 %.
TEST_CASE("padding layers and their waste are said as the engine says them") {
  const auto said = [](const Pool& pool, const char* text) {
    return std::any_of(pool.warnings.begin(), pool.warnings.end(),
                       [&](const std::string& w) { return w.find(text) != std::string::npos; });
  };
  const Pool gemma =
      size_pool(catalog().model("gemma-3-27b"), catalog().gpu("b200-sxm"), given(100, 4096));
  CHECK(said(gemma, "Add 8 padding layers, may waste at most 15.38% KV cache memory"));
  Options o = given(20, 32768);
  o.draft_layers = 1, o.speculative_tokens = 3;
  const Pool hybrid = size_pool(delta_net(64, 4, 48), catalog().gpu("h100-sxm"), o);
  CHECK(said(hybrid, "Add 3 padding layers, may waste at most 6.25% KV cache memory"));
}
