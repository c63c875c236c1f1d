#pragma once
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/profile.h"
#include "kv/block_manager.h"

namespace kvsim::engine {

// What the vllm-v1 scheduler asks of its KV cache, answered for a model with one full-attention
// group. The calls of every step are inline: a decode step touches the request's first cache line
// only. GroupedKv answers the same questions for several groups.
class OneGroupKv {
 public:
  explicit OneGroupKv(const SchedulerLimits& limits)
      : caching_(limits.enable_prefix_caching),
        blocks_({limits.num_blocks, limits.block_tokens, limits.enable_prefix_caching,
                 limits.watermark, limits.max_model_len,
                 limits.vllm.speculative ? limits.vllm.speculative->lookahead_tokens() : 0,
                 limits.vllm.speculative && limits.vllm.speculative->drops_last_block(),
                 limits.freed_blocks}) {}

  const kv::BlockPool& pool() const { return blocks_.pool(); }
  std::int64_t hash_tokens() const { return blocks_.block_tokens(); }
  void begin_step() {}
  void end_step() {}

  // Room for all that the request can become, so that its steps allocate nothing.
  void reserve(RequestState& r) const {
    r.table.blocks.reserve(static_cast<std::size_t>(blocks_.ceil_blocks(blocks_.slots(r.stop_at))));
  }
  std::int64_t lookup(RequestState& r) { return blocks_.lookup(r.chain); }
  // Tokens of a chunk [computed, computed + n) that may be scheduled. `hit` at admission only.
  static std::int64_t chunk(const RequestState&, std::int64_t, std::int64_t n) { return n; }
  bool admit(RequestState& r, std::int64_t hit, std::int64_t n, kv::BlockManager::FullInput gate,
             kv::BlockManager::Others others) {
    return blocks_.admit(r.table, r.chain, hit, n, gate, others);
  }
  bool extend(RequestState& r, std::int64_t n) { return blocks_.extend(r.table, r.computed, n); }
  void publish(RequestState& r, std::int32_t computed) {
    if (computed / blocks_.block_tokens() <= r.table.published || !caching_) return;
    r.chain.grow_to(r.tokens);
    blocks_.publish(r.table, r.chain, computed);
  }
  void free(RequestState& r) { blocks_.free(r.table); }
  static bool holds(const RequestState& r) { return !r.table.blocks.empty(); }
  std::int64_t held(const RequestState& r) const {
    return static_cast<std::int64_t>(r.table.blocks.size());
  }
  // Tokens, lookahead included, up to which extend() has nothing to do.
  std::int64_t slot_tokens(const RequestState& r) const { return held(r) * blocks_.block_tokens(); }

  // Computing fewer tokens than these needs no block and fills none that would get a hash.
  std::int64_t quiet_until(const RequestState& r) const {
    const std::int64_t slots = slot_tokens(r) + 1;
    return caching_ ? std::min(slots, (r.table.published + 1) * blocks_.block_tokens()) : slots;
  }

  // Why a request of `prompt` tokens that grows to `most` does not fit the empty pool.
  std::optional<std::string> why_too_large(std::int64_t, std::int64_t most) const {
    const std::int64_t need = blocks_.ceil_blocks(blocks_.slots(most));
    if (need <= pool().usable()) return std::nullopt;
    return fmt::format("it needs {} KV blocks of {} tokens and the pool has {}", need,
                       blocks_.block_tokens(), pool().usable());
  }

 private:
  bool caching_;
  kv::BlockManager blocks_;
};

}  // namespace kvsim::engine
