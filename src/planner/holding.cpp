#include "planner/holding.h"

#include <algorithm>
#include <cmath>

namespace kvsim::planner {
namespace {

using memory::Engine;

bool growing_only(const kvformat::Footprint& fp) {
  return fp.bytes_per_sequence == 0 && fp.bytes_per_sequence_extra == 0 && fp.bytes_per_token > 0;
}

double recurrent_bytes(const kvformat::Footprint& fp) {
  double bytes = 0;
  for (const auto& g : fp.groups)
    if (g.attention == spec::AttentionKind::recurrent)
      bytes += static_cast<double>(g.layers) * g.bytes_per_sequence_layer;
  return bytes;
}

}  // namespace

Holding::Holding(const memory::Pool& pool) : pool_(pool), unit_("bytes") {
  const Engine engine = pool.options.rules.engine;
  const bool paged = engine == Engine::vllm_v1 && pool.layout.one_pool;
  const bool plain = (engine == Engine::sglang || engine == Engine::trtllm) &&
                     growing_only(pool.footprint) && pool.block_tokens > 0;
  if (paged || plain) {
    unit_ = "blocks";
    const bool null_block = paged && pool.options.rules.v1;
    capacity_ = static_cast<double>(std::max<std::int64_t>(pool.num_gpu_blocks - null_block, 0));
  } else if (engine == Engine::llamacpp) {
    unit_ = "cells";
    capacity_ = static_cast<double>(pool.tokens);
  } else if (engine == Engine::static_batching) {
    unit_ = "slots";
    capacity_ = std::floor(pool.max_concurrency);
  } else {
    capacity_ = static_cast<double>(pool.ledger.kv.value());
    if (pool.state_slots > 0) {
      most_ = pool.state_slots;
      state_bytes_ = recurrent_bytes(pool.footprint);
    }
  }
}

double Holding::need(std::int64_t tokens) const {
  const Engine engine = pool_.options.rules.engine;
  if (engine == Engine::static_batching) return 1;
  if (engine == Engine::llamacpp) return static_cast<double>(tokens);
  if (unit_ == "blocks")
    return static_cast<double>(engine == Engine::vllm_v1 ? pool_.layout.blocks_for(tokens)
                                                         : ceil_div(tokens, pool_.block_tokens));
  if (engine == Engine::vllm_v1) return pool_.layout.bytes_for(tokens);
  return static_cast<double>(pool_.footprint.sequence_bytes(Tokens(tokens)).value()) - state_bytes_;
}

std::int64_t Holding::requests(std::int64_t tokens) const {
  const double each = need(tokens);
  auto n = each > 0 ? static_cast<std::int64_t>(capacity_ / each) : 0;
  return most_ > 0 ? std::min(n, most_) : n;
}

}  // namespace kvsim::planner
