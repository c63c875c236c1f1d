#include "memory/holding.h"

#include <algorithm>
#include <cmath>

#include "memory/sizing.h"

namespace kvsim::memory {

Holding::Holding(const Pool& pool) : pool_(pool), unit_("bytes") {
  const Options& o = pool.options;
  const Engine engine = o.rules.engine;
  const bool paged = engine == Engine::vllm_v1 && pool.layout.one_pool;
  const bool pages =
      engine == Engine::sglang && pool.footprint.bytes_per_sequence_extra == 0 && pool.tokens > 0;
  const bool plain = engine == Engine::trtllm && grows_only(pool.footprint);
  if (paged || pages || plain) {
    unit_ = "blocks";
    const bool null_block = paged && o.rules.v1;
    capacity_ = static_cast<double>(std::max<std::int64_t>(pool.num_gpu_blocks - null_block, 0));
    if (pool.ledger.state.value() > 0) most_ = pool.state_slots;
    states_ = pool.ledger.state.value() > 0;
    if (pages) {
      for (const auto& g : pool.footprint.groups) window_ = std::max(window_, g.window);
      full_ = pool.footprint.bytes_per_token > 0;
    }
  } else if (engine == Engine::llamacpp) {
    unit_ = "cells";
    capacity_ = static_cast<double>(pool.tokens);
  } else if (engine == Engine::static_batching) {
    unit_ = "slots";
    capacity_ = std::floor(pool.max_concurrency);
  } else {
    capacity_ = static_cast<double>(pool.ledger.kv.value());
  }
}

double Holding::need(std::int64_t tokens) const {
  switch (pool_.options.rules.engine) {
    case Engine::static_batching:
      return 1;
    case Engine::llamacpp:
      return static_cast<double>(tokens);
    case Engine::vllm_v1:
      return unit_ == "blocks" ? static_cast<double>(pool_.layout.held_blocks(tokens))
                               : pool_.layout.held_bytes(tokens);
    case Engine::sglang:
    case Engine::trtllm:
      break;
  }
  if (unit_ == "bytes") return sequence_bytes(pool_.footprint, tokens);
  auto held = static_cast<double>(full_ ? tokens : 0);
  if (window_ > 0) {
    // A pool of full slots comes with a share of it in window slots; without full layers the pool
    // is the window slots.
    const auto kept = static_cast<double>(std::min(tokens, window_));
    held = std::max(held, full_ ? kept / pool_.options.window_slot_ratio : kept);
  }
  return std::ceil(held / static_cast<double>(pool_.block_tokens));
}

std::int64_t Holding::requests(std::int64_t tokens) const {
  const double each = need(tokens);
  const auto n = each > 0 ? static_cast<std::int64_t>(capacity_ / each) : 0;
  return states_ ? std::min(n, most_) : n;
}

}  // namespace kvsim::memory
