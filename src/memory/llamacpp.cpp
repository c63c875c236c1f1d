#include <fmt/format.h>

#include "memory/sizing.h"

// llama.cpp: KV is sized by the context first; weights, KV and the compute buffer must then fit.
namespace kvsim::memory {

void size_llamacpp(Pool& pool, const spec::ModelSpec& model, const std::vector<Stage>& stages) {
  const Options& o = pool.options;
  const Stage& stage = take_poorest(pool, stages);
  Ledger& l = pool.ledger;
  l.add("compute buffer", l.activation, stage.activation.note, true, stage.activation.uncertainty);
  if (o.kv_cache_memory.empty()) {
    const auto wanted =
        Bytes(static_cast<std::int64_t>(sequence_bytes(pool.footprint, o.max_model_len)) *
              o.max_num_seqs);
    const Bytes free = l.total - l.weights - l.non_torch - l.activation;
    pool.tokens = o.max_model_len * o.max_num_seqs;
    if (free > wanted) {
      l.reserve = free - wanted;
      l.add("unused", l.reserve, "the context decides the KV, not the memory");
    }
    close_ledger(pool, l.total);
    if (free < wanted) pool.tokens = 0;
  } else {
    close_ledger(pool, l.total);
  }
  const auto kv = static_cast<double>(l.kv.value());
  if (pool.tokens == 0) {
    if (grows_only(pool.footprint))
      pool.tokens = static_cast<std::int64_t>(kv / pool.footprint.bytes_per_token);
    else
      size_by_sequence(pool);
  }
  pool.num_gpu_blocks = pool.tokens / pool.block_tokens;
  pool.max_concurrency = static_cast<double>(pool.tokens) / static_cast<double>(o.max_model_len);
  pool.engine_log = {fmt::format("llama_kv_cache: size = {:.2f} MiB ({} cells, {} layers)",
                                 kv / mib, pool.tokens, model.num_layers)};
}

}  // namespace kvsim::memory
