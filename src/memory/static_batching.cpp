#include <fmt/format.h>

#include <cmath>

#include "memory/sizing.h"

// A slot of max_model_len tokens per request, reserved when it starts.
namespace kvsim::memory {

void size_static(Pool& pool, const std::vector<Stage>& stages) {
  const Options& o = pool.options;
  const Stage& stage = take_poorest(pool, stages);
  Ledger& l = pool.ledger;
  l.add("activation buffers", l.activation, stage.activation.note, true,
        stage.activation.uncertainty);
  close_ledger(pool, Bytes(static_cast<std::int64_t>(
                         std::floor(static_cast<double>(l.total.value()) * *o.memory_fraction))));
  if (grows_only(pool.footprint)) {
    const double tokens = static_cast<double>(l.kv.value()) / pool.footprint.bytes_per_token;
    pool.tokens = static_cast<std::int64_t>(tokens) / pool.block_tokens * pool.block_tokens;
    pool.num_gpu_blocks = pool.tokens / pool.block_tokens;
    pool.max_concurrency =
        std::floor(static_cast<double>(pool.tokens) / static_cast<double>(o.max_model_len));
  } else {
    size_by_sequence(pool);
    pool.max_concurrency = std::floor(pool.max_concurrency);
  }
  pool.engine_log = {fmt::format("{} slots of {} tokens",
                                 static_cast<std::int64_t>(pool.max_concurrency), o.max_model_len)};
}

}  // namespace kvsim::memory
