#include "planner/binding.h"

#include <map>

#include "memory/holding.h"

namespace kvsim::planner {
namespace {

// Bytes of one request of max_model_len in this GPU's pool.
Bytes kv_of_one(const memory::Pool& pool) {
  const std::int64_t length = pool.options.max_model_len;
  if (pool.options.rules.engine == memory::Engine::vllm_v1 && pool.layout.one_pool)
    return Bytes(pool.layout.blocks_for(length) * pool.layout.block_bytes.value());
  const memory::Holding holding(pool);
  if (holding.unit() == "bytes") return Bytes(static_cast<std::int64_t>(holding.need(length)));
  return pool.footprint.sequence_bytes(Tokens(length));
}

}  // namespace

Binding find_binding(const memory::Pool& pool) {
  Binding b;
  b.budget = pool.ledger.budget;
  std::map<std::string, Bytes> terms;
  for (const memory::LedgerLine& line : pool.ledger.lines) {
    if (line.name == "KV cache" || !line.in_budget) continue;
    const bool weights = line.name.starts_with("weights");
    Bytes& term = terms[weights ? "weights" : line.name];
    term += line.bytes;
  }
  for (const auto& [name, bytes] : terms)
    if (b.term.empty() || bytes > b.bytes) b.term = name, b.bytes = bytes;
  for (const memory::LedgerLine& line : pool.ledger.lines) {
    const bool in_term =
        line.name == b.term || (b.term == "weights" && line.name.starts_with("weights"));
    if (in_term && line.in_budget && line.bytes > b.line_bytes)
      b.line = line.name, b.line_bytes = line.bytes;
  }
  if (pool.ledger.shortfall.value() == 0 && !pool.fits) {
    b.kv_needed = kv_of_one(pool);
    b.kv_there = pool.ledger.kv;
  }
  return b;
}

}  // namespace kvsim::planner
