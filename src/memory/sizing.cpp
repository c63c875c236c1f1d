#include "memory/sizing.h"

#include <algorithm>
#include <cmath>

namespace kvsim::memory {

double sequence_bytes(const kvformat::Footprint& fp, std::int64_t tokens) {
  return static_cast<double>(fp.sequence_bytes(Tokens(tokens)).value());
}

void close_ledger(Pool& pool, Bytes budget) {
  Ledger& l = pool.ledger;
  Bytes used;
  for (const LedgerLine& line : l.lines)
    if (line.in_budget) used += line.bytes;
  if (const auto given =
          least_of_stage(pool.options.kv_cache_memory, pool.options.plan, pool.stage)) {
    l.kv = *given;
    l.budget = used + l.kv;
    l.add("KV cache", l.kv, "given: kv_cache_memory_bytes");
  } else {
    l.budget = budget;
    l.kv = std::max(budget - used, Bytes(0));
    l.shortfall = std::max(used - budget, Bytes(0));
    l.add("KV cache", l.kv, "what remains");
  }
  l.check();
}

namespace {

// What these engines divide: the memory that is free when they start.
Bytes memory_of(const Pool& pool, int stage) {
  const Options& o = pool.options;
  const Bytes total = least_of_stage(o.total_memory, o.plan, stage).value_or(pool.ledger.total);
  return std::min(least_of_stage(o.free_memory, o.plan, stage).value_or(total), total);
}

}  // namespace

const Stage& take_poorest(Pool& pool, const std::vector<Stage>& stages) {
  const Options& o = pool.options;
  const auto room = [&](const Stage& s) {
    const Bytes total = memory_of(pool, s.index);
    const Bytes left = total - s.weight_bytes - s.activation.bytes - s.non_torch.bytes;
    return static_cast<double>(left.value()) /
           std::max(1.0, sequence_bytes(s.footprint, o.max_model_len));
  };
  const Stage& stage =
      *std::min_element(stages.begin(), stages.end(),
                        [&](const Stage& a, const Stage& b) { return room(a) < room(b); });
  pool.stage = stage.index;
  pool.footprint = stage.footprint;
  Ledger& l = pool.ledger;
  l.total = memory_of(pool, stage.index);
  add_weights(l, stage);
  l.activation = stage.activation.bytes;
  l.non_torch = stage.non_torch.bytes;
  l.cuda_graphs = stage.graphs.bytes;
  l.add("non-torch", stage.non_torch.bytes, stage.non_torch.note, true,
        stage.non_torch.uncertainty);
  return stage;
}

void size_by_sequence(Pool& pool) {
  const auto kv = static_cast<double>(pool.ledger.kv.value());
  const std::int64_t length = pool.options.max_model_len;
  pool.max_concurrency = kv / std::max(1.0, sequence_bytes(pool.footprint, length));
  pool.tokens =
      static_cast<std::int64_t>(std::floor(pool.max_concurrency * static_cast<double>(length)));
  pool.num_gpu_blocks = pool.tokens / pool.block_tokens;
}

bool grows_only(const kvformat::Footprint& fp) {
  return fp.bytes_per_sequence == 0 && fp.bytes_per_sequence_extra == 0 && fp.bytes_per_token > 0;
}

}  // namespace kvsim::memory
