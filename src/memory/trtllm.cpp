#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "memory/sizing.h"

// TensorRT-LLM: KV = free after the engine is built * kv_cache_free_gpu_mem_fraction; blocks are
// rounded up.
namespace kvsim::memory {

void size_trtllm(Pool& pool, const std::vector<Stage>& stages) {
  const Options& o = pool.options;
  const Stage& stage = take_poorest(pool, stages);
  Ledger& l = pool.ledger;
  l.add("activation buffers", l.activation, stage.activation.note, true,
        stage.activation.uncertainty);
  if (o.kv_cache_memory.empty()) {
    const Bytes free = std::max(l.total - l.weights - l.non_torch - l.activation, Bytes(0));
    const double kept = std::floor(static_cast<double>(free.value()) * *o.memory_fraction);
    l.reserve = free - Bytes(static_cast<std::int64_t>(kept));
    l.add(
        "reserve", l.reserve,
        fmt::format("1 - free_gpu_memory_fraction ({:g}) of the free memory", *o.memory_fraction));
  }
  close_ledger(pool, l.total);
  const auto kv = static_cast<double>(l.kv.value());
  if (grows_only(pool.footprint)) {
    const double block = pool.footprint.bytes_per_token * static_cast<double>(pool.block_tokens);
    pool.num_gpu_blocks = static_cast<std::int64_t>(std::ceil(kv / block));
    pool.tokens = pool.num_gpu_blocks * pool.block_tokens;
    pool.max_concurrency = static_cast<double>(pool.num_gpu_blocks) /
                           static_cast<double>(ceil_div(o.max_model_len, pool.block_tokens));
  } else {
    size_by_sequence(pool);
  }
  pool.engine_log = {
      fmt::format("[MemUsageChange] Allocated {:.2f} GiB for max tokens in paged KV cache ({}).",
                  kv / gib, pool.tokens),
      fmt::format("Number of blocks in KV cache primary pool: {}, tokens per block: {}",
                  pool.num_gpu_blocks, pool.block_tokens)};
}

}  // namespace kvsim::memory
