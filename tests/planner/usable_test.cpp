#include "planner/usable.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "planner/change.h"
#include "requests.h"

using namespace kvsim;
using namespace kvsim::planner;

namespace {

memory::Pool pool_of(const Request& r) { return memory::size_pool(r.model, r.gpu, r.options); }

// Blocks that all groups keep for the first `tokens` tokens of cached prefixes.
std::int64_t kept(const memory::Pool& pool, std::int64_t tokens) {
  std::int64_t blocks = 0;
  for (const auto& g : pool.layout.groups) blocks += ceil_div(tokens, g.block_tokens);
  return blocks;
}

}  // namespace

TEST_CASE("a plain model can use the printed tokens without the null block") {
  Request r = request("llama-3.1-8b", "h100-sxm");
  r.options.kv_cache_memory = {Bytes(40 * gib)};
  r.options.max_model_len = 8192;
  const memory::Pool pool = pool_of(r);
  REQUIRE(pool.tokens == 327680);
  CHECK(usable_tokens(pool).tokens == 327680 - 16);
}

TEST_CASE("with prefix caching states and windows take blocks of their own for cached tokens") {
  for (const char* model : {"qwen3-next-80b-a3b", "gemma-3-27b"}) {
    Request r = request(model, "h200-sxm", 2);
    r.options.enable_prefix_caching = true;
    const memory::Pool pool = pool_of(r);
    REQUIRE(pool.fits);
    REQUIRE(pool.layout.groups.size() > 1);
    const Usable u = usable_tokens(pool);
    CAPTURE(model);
    CHECK(u.tokens > 0);
    CHECK(u.tokens < pool.tokens);
    CHECK(kept(pool, u.tokens) <= pool.num_gpu_blocks - 1);
    CHECK(kept(pool, u.tokens + pool.layout.block_tokens) > pool.num_gpu_blocks - 1);
  }
}

TEST_CASE("without prefix caching a hybrid uses what its running requests hold") {
  Request r = request("qwen3-next-80b-a3b", "h200-sxm", 2);
  r.options.enable_prefix_caching = false;
  const memory::Pool pool = pool_of(r);
  const Usable u = usable_tokens(pool);
  CHECK(u.tokens < pool.tokens);
  CHECK(static_cast<double>(u.tokens) > 0.98 * static_cast<double>(pool.tokens));
}

TEST_CASE("what is called usable fits the blocks under every rule") {
  for (const std::string& id : catalog().model_ids()) {
    CAPTURE(id);
    for (const char* version : {"0.8", "0.9.2", "0.20", "0.21"}) {
      Request r = request(id.c_str(), "b300-sxm", 1);
      r.options.rules = memory::resolve_rules(memory::Engine::vllm_v1, version);
      const memory::Pool pool = pool_of(r);
      const Usable u = usable_tokens(pool);
      if (!pool.layout.one_pool || pool.num_gpu_blocks == 0) continue;
      const std::int64_t length = pool.options.max_model_len;
      const std::int64_t running = u.tokens / length * pool.layout.blocks_for(length);
      CHECK(std::min(running, kept(pool, u.tokens)) < pool.num_gpu_blocks);
    }
  }
}
