#include "planner/streams.h"

#include <algorithm>

#include "planner/change.h"

#include "memory/holding.h"

namespace kvsim::planner {
namespace {

Bytes as_gib(Bytes size) {
  return Bytes(static_cast<std::int64_t>(static_cast<double>(size.value()) * gib / 1e9));
}

}  // namespace

Streams count_streams(const Request& asked, const std::vector<std::int64_t>& lengths) {
  Request r = resolved(asked);
  const memory::Pool pool = memory::size_pool(r.model, r.gpu, r.options);
  const memory::Holding holding(pool);
  const int replicas = r.options.plan.data_parallel_size;
  Streams streams;
  streams.unit = holding.unit();
  // Pool and states of one GPU, of all that hold parts of a sequence and of their copies.
  const Bytes gpu_kv = pool.ledger.kv + pool.ledger.state;
  streams.deployment_kv = Bytes(gpu_kv.value() * r.options.plan.gpus());
  std::optional<memory::Pool> larger;
  if (!r.options.kv_cache_memory.empty()) {
    for (Bytes& size : r.options.kv_cache_memory) size = as_gib(size);
    larger = try_pool(r);
  }
  for (const std::int64_t tokens : lengths) {
    Stream s;
    s.tokens = tokens;
    s.kv_each = memory::deployment_kv_bytes(r.model, pool.options, tokens, 1);
    s.need = holding.need(tokens);
    s.requests = holding.requests(tokens) * replicas;
    s.by_bytes = streams.deployment_kv.value() / std::max<std::int64_t>(s.kv_each.value(), 1);
    if (larger) s.if_gib = memory::Holding(*larger).requests(tokens) * replicas;
    streams.rows.push_back(s);
  }
  return streams;
}

}  // namespace kvsim::planner
