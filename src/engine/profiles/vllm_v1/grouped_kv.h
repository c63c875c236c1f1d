#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/profile.h"
#include "kv/groups/group_manager.h"

namespace kvsim::engine {

// Whether these limits ask for more than one full-attention group.
bool has_groups(const SchedulerLimits& limits);
// The KV cache groups of vllm.kv_groups, else of the model, with what the other fields say about
// them.
kv::GroupManager::Options group_options(const SchedulerLimits& limits);

// What the vllm-v1 scheduler asks of its KV cache, answered for several KV cache groups: see
// OneGroupKv for the questions.
class GroupedKv {
 public:
  explicit GroupedKv(const SchedulerLimits& limits);

  const kv::BlockPool& pool() const { return groups_.pool(); }
  std::int64_t hash_tokens() const { return groups_.hash_tokens(); }
  void begin_step() { groups_.begin_step(); }
  void end_step() { groups_.end_step(); }

  void reserve(RequestState& r) const;
  std::int64_t lookup(RequestState& r) {
    hit_ = groups_.lookup(r.chain);
    r.groups.shared_prefix = hit_.shared;
    return hit_.tokens;
  }
  std::int64_t chunk(const RequestState& r, std::int64_t computed, std::int64_t n) const {
    return groups_.cut_chunk({computed, n, r.tokens, r.prompt_tokens, r.groups.shared_prefix});
  }
  bool admit(RequestState& r, std::int64_t hit, std::int64_t n, kv::BlockManager::FullInput gate,
             kv::BlockManager::Others others) {
    return groups_.admit(r.groups, r.chain, {r.prompt_tokens, {hit, hit_.shared}, n, gate, others});
  }
  bool extend(RequestState& r, std::int64_t n) {
    return groups_.extend(r.groups, r.computed - r.unsettled, r.computed, n);
  }
  void publish(RequestState& r, std::int32_t computed) {
    if (computed < r.groups.publish_at) return;
    r.chain.grow_to(r.tokens);
    groups_.publish(r.groups, r.chain, computed);
    if (r.groups.tail()) r.slot_tokens = 0;  // its next step copies the tail
  }
  void free(RequestState& r) { groups_.free(r.groups); }
  static bool holds(const RequestState& r) { return r.groups.held(); }
  std::int64_t held(const RequestState& r) const { return groups_.held(r.groups); }
  std::int64_t slot_tokens(const RequestState& r) const;
  // Computing fewer tokens than these gives no block back, needs none and publishes none. Chunks of
  // one token are never cut.
  std::int64_t quiet_until(const RequestState& r) const {
    return std::min<std::int64_t>(r.slot_tokens + 1, r.groups.publish_at);
  }

  std::optional<std::string> why_too_large(std::int64_t prompt, std::int64_t most) const;

 private:
  std::int64_t most_alone(std::int64_t prompt, std::int64_t most) const;

  std::int64_t largest_chunk_;  // that a step could schedule of one request
  // Tokens of a block of state that chunks must fill and cannot; 0: none.
  std::int64_t unfillable_block_ = 0;
  bool gate_;
  kv::GroupManager groups_;
  kv::GroupLookup::Hit hit_;  // of the last lookup
};

}  // namespace kvsim::engine
