#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "kv/block_manager.h"
#include "kv/block_pool.h"
#include "kv/groups/group_lookup.h"
#include "kv/groups/group_spec.h"
#include "kv/groups/group_table.h"
#include "kv/groups/retention.h"
#include "kv/groups/state_chunk.h"
#include "kv/token_run.h"

namespace kvsim::kv {

// Block manager of several KV cache groups over one pool: vLLM V1's hybrid KV cache manager
// (kv_cache_coordinator.py, single_type_kv_cache_manager.py, main of 2026-08-17). Every group has
// its own block table per request, all blocks are of one size in bytes and come from one pool.
//
//   * What a window, a chunk of attention or a recurrence no longer reads is given back by the next
//     extend(), before it asks for blocks.
//   * A state group holds one state per request, and one block per speculative token. In mode
//     `align` the state moves to a fresh block when a block is entered; the one left behind is
//     given back by the extend() after.
//   * A state published in a step cannot be hit in that step: its admission is refused.
//   * A prompt's tail, inside a block, is published where match_unit is smaller than a block. Who
//     goes on from it, its writer too, writes a copy: one block more for every group whose block is
//     cut. The blocks copied from stay held to the end of the step.
//
// A refused admission changes nothing; a refused extend() has given back what it could.
// Costs: lookup as GroupLookup; the rest O(blocks taken or given back + groups).
class GroupManager {
 public:
  struct Options {
    BlockManager::Options blocks;  // block_tokens: of the attention groups
    std::vector<GroupSpec> groups;
    std::optional<std::int64_t> retention_interval = 0;
    StateMode state_mode = StateMode::none;
    std::int64_t match_unit = 0;          // 0: a block; smaller ones with states in mode align only
    std::int64_t speculative_tokens = 0;  // K
    std::int64_t largest_chunk = 0;       // that a step could schedule of one request
    std::int64_t in_flight_tokens = 0;    // that all batches in flight may hold
  };
  explicit GroupManager(const Options& options);

  const BlockPool& pool() const { return pool_; }
  std::int64_t block_tokens() const { return options_.blocks.block_tokens; }
  std::int64_t hash_tokens() const { return hash_tokens_; }  // for TokenChain::reset
  std::size_t groups() const { return options_.groups.size(); }

  // Around all calls of one step of the scheduler.
  void begin_step() { fresh_states_.clear(); }
  void end_step();

  GroupLookup::Hit lookup(TokenChain& chain);
  // Tokens of the chunk that a step schedules: state groups choose where chunks end.
  std::int64_t cut_chunk(const StateChunks::Chunk& chunk) const {
    return cuts_chunks_ ? chunks_.cut(chunk) : chunk.tokens;
  }

  struct Admission {
    std::int64_t prompt_tokens = 0;
    GroupLookup::Hit hit;  // of the lookup() before
    std::int64_t tokens = 0;
    BlockManager::FullInput gate = BlockManager::FullInput::must_fit;
    BlockManager::Others others = BlockManager::Others::none_running;
  };
  // As BlockManager::admit().
  bool admit(GroupTable& table, TokenChain& chain, const Admission& admission);
  // Slots for tokens up to `computed + n`, and the lookahead; `settled` of the computed tokens are
  // in no step in flight.
  bool extend(GroupTable& table, std::int64_t settled, std::int64_t computed, std::int64_t n);
  // Up to so many tokens, lookahead included, extend() would do nothing.
  std::int64_t quiet_until(const GroupTable& table) const;
  void publish(GroupTable& table, TokenChain& chain, std::int64_t computed);
  // Gives all blocks back, group by group, last first.
  void free(GroupTable& table);

  // Blocks that a request alone holds while a step computes the tokens up to `end`, of which
  // `settled` were computed before.
  std::int64_t blocks_alone(std::int64_t settled, std::int64_t end, std::int64_t prompt) const;
  // Blocks that the gate on the full input asks for.
  std::int64_t blocks_at_gate(std::int64_t tokens) const;
  // Entries of the table that hold a block.
  std::int64_t held(const GroupTable& table) const;

 private:
  enum class Cap { none, gate };
  bool aligned_states(const GroupSpec& spec) const {
    return spec.kind == GroupKind::mamba && options_.state_mode == StateMode::align;
  }
  std::int64_t speculative_blocks(const GroupSpec& spec) const {
    return spec.kind == GroupKind::mamba ? options_.speculative_tokens : 0;
  }
  std::int64_t slots(std::int64_t tokens) const;
  bool cut(std::int64_t hit) const { return hit % block_tokens() != 0 && tails_; }
  std::int64_t tail_point(std::int64_t prompt) const;
  bool hits_fresh_state(TokenChain& chain, std::int64_t hit) const;
  std::int64_t admission_need(std::size_t group, std::int64_t hit, std::int64_t tokens,
                              Cap cap) const;
  std::int64_t extension_need(const GroupTable::Group& table, const GroupSpec& spec,
                              std::int64_t tokens) const;
  void give_back_skipped(GroupTable::Group& table, const GroupSpec& spec, std::int64_t settled);
  void copy_block(GroupTable::Group& table, std::size_t group, std::int64_t at);
  void grow(GroupTable::Group& table, const GroupSpec& spec, std::int64_t tokens);
  void move_state(GroupTable::Group& table, const GroupSpec& spec, std::int64_t tokens);
  void publish_tail(GroupTable& table, TokenChain& chain, std::int64_t computed);

  Options options_;
  std::int64_t hash_tokens_;
  bool tails_;
  bool cuts_chunks_;
  StateChunks chunks_;
  Retention retention_;
  BlockPool pool_;
  GroupLookup lookup_;
  std::int64_t watermark_blocks_;
  std::unordered_set<BlockHash> fresh_states_;  // published in this step
  std::vector<std::vector<BlockId>> pinned_;    // per group, copied from in this step
  std::vector<BlockId> releasing_;
};

}  // namespace kvsim::kv
