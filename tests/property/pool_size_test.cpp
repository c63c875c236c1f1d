#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "memory/holding.h"
#include "memory/pool.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::memory;

TEST_CASE("more memory never holds fewer tokens and the pool stays inside its bytes") {
  const spec::Catalog catalog;
  const auto ids = catalog.model_ids();
  const auto& gpu = catalog.gpu("h200-sxm");
  const bool held = rc::check([&] {
    const auto& model = catalog.model(*rc::gen::elementOf(ids));
    Options o;
    o.kv_dtype = *kvformat::find_kv_dtype("bfloat16");
    o.max_model_len = *rc::gen::inRange<std::int64_t>(64, 200000);
    const std::int64_t kv = *rc::gen::inRange<std::int64_t>(1, 200);
    o.kv_cache_memory = {Bytes(kv * gib)};
    const Pool small = size_pool(model, gpu, o);
    o.kv_cache_memory = {Bytes((kv + 1) * gib)};
    const Pool large = size_pool(model, gpu, o);
    RC_ASSERT(large.tokens >= small.tokens);
    RC_ASSERT(large.max_concurrency >= small.max_concurrency);
    if (small.layout.one_pool)
      RC_ASSERT(small.num_gpu_blocks * small.layout.block_bytes.value() <= small.ledger.kv.value());
    const std::int64_t fits = Holding(small).requests(o.max_model_len);
    RC_ASSERT(static_cast<double>(fits) * small.layout.held_bytes(o.max_model_len) <=
              static_cast<double>(small.ledger.kv.value()) * 1.0000001);
  });
  CHECK(held);
}
