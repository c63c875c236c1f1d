#include <fmt/format.h>

#include <algorithm>

#include "diag/diagnostic.h"
#include "memory/sizing.h"
#include "units/format.h"

// llama.cpp: KV is sized by the context first; weights, KV and the compute buffer must then fit.
namespace kvsim::memory {
namespace {

constexpr double most_bytes = 9e18;

}  // namespace

void size_llamacpp(Pool& pool, const spec::ModelSpec& model, const std::vector<Stage>& stages) {
  const Options& o = pool.options;
  const Stage& stage = take_poorest(pool, stages);
  Ledger& l = pool.ledger;
  l.add("compute buffer", l.activation, stage.activation.note, true, stage.activation.uncertainty);
  if (o.kv_cache_memory.empty()) {
    const double wanted =
        sequence_bytes(pool.footprint, o.max_model_len) * static_cast<double>(o.max_num_seqs);
    if (wanted > most_bytes)
      throw InputError(
          {.code = "too-large",
           .message = fmt::format("{} contexts of {} tokens are more KV than can be counted",
                                  format_integer(o.max_num_seqs), format_integer(o.max_model_len)),
           .hint = "give a smaller max_model_len or max_num_seqs"});
    const auto kv = Bytes(static_cast<std::int64_t>(wanted));
    const Bytes free = std::max(l.total - l.weights - l.non_torch - l.activation, Bytes(0));
    pool.tokens = o.max_model_len * o.max_num_seqs;
    if (free > kv) {
      l.reserve = free - kv;
      l.add("unused", l.reserve, "the context decides the KV, not the memory");
    }
    close_ledger(pool, l.total);
    if (free < kv && l.shortfall.value() == 0) {
      // All of it is allocated at the start, or the start fails.
      pool.tokens = 0;
      l.lines.back().bytes = l.kv = kv;
      l.lines.back().note = "max_num_seqs contexts of max_model_len, allocated at the start";
      l.shortfall = kv - free;
      l.check();
    }
  } else {
    close_ledger(pool, l.total);
  }
  if (pool.tokens == 0 && l.shortfall.value() == 0) {
    const auto kv = static_cast<double>(l.kv.value());
    if (grows_only(pool.footprint))
      pool.tokens = static_cast<std::int64_t>(kv / pool.footprint.bytes_per_token);
    else
      size_by_sequence(pool);
  }
  pool.num_gpu_blocks = pool.tokens / pool.block_tokens;
  pool.max_concurrency = static_cast<double>(pool.tokens) / static_cast<double>(o.max_model_len);
  pool.engine_log = {fmt::format("llama_kv_cache: size = {:.2f} MiB ({} cells, {} layers)",
                                 static_cast<double>(l.kv.value()) / mib, pool.tokens,
                                 model.num_layers)};
}

}  // namespace kvsim::memory
