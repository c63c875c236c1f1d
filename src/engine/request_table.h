#pragma once
#include <cstdint>
#include <vector>

#include "kv/block_manager.h"
#include "kv/groups/group_table.h"
#include "units/units.h"
#include "workload/request.h"

namespace kvsim::engine {

using Slot = std::int32_t;
inline constexpr Slot no_slot = -1;

// One request inside an engine. Token counts are integers: `computed` tokens have KV, `tokens` are
// known (prompt and outputs so far); the request ends when `tokens` reaches `stop_at`.
struct alignas(64) RequestState {
  // Everything a decode step touches stays within one cache line.
  std::int32_t computed = 0;
  std::int32_t tokens = 0;
  std::int32_t stop_at = 0;
  std::int32_t slot_tokens = 0;  // tokens its blocks have room for
  std::int32_t quiet_until = 0;  // below so many tokens a decode step asks nothing of the KV cache
  Time last_token;               // when its newest token came to be
  std::int32_t prompt_tokens = 0;
  // Rises when the request ends, or when results in flight are to be dropped: a step's item of an
  // earlier epoch has no effect.
  std::uint32_t epoch = 0;
  std::int32_t drafts = 0;         // drafts proposed for its next step
  std::int32_t verifications = 0;  // steps that verified drafts so far
  std::int32_t in_flight = 0;      // tokens that steps in flight will emit at least
  std::int32_t unsettled = 0;      // computed tokens whose steps are still in flight
  bool measured = true;            // false: warm-up, left out of the statistics

  kv::BlockTable table;
  kv::GroupTable groups;  // instead of the table, where the engine keeps several KV cache groups
  kv::TokenChain chain;
  workload::RequestSpec spec;
  std::int64_t cached_tokens = 0;  // prefix found at first admission
  std::int64_t preemptions = 0;
  Time first_scheduled, first_token;
};

// Slots of an engine's requests; a finished request's buffers serve the next one.
class RequestTable {
 public:
  Slot take() {
    if (free_.empty()) {
      states_.emplace_back();
      return static_cast<Slot>(states_.size() - 1);
    }
    const Slot slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(Slot slot) { free_.push_back(slot); }
  RequestState& operator[](Slot slot) { return states_[static_cast<std::size_t>(slot)]; }
  const RequestState& operator[](Slot slot) const {
    return states_[static_cast<std::size_t>(slot)];
  }

 private:
  std::vector<RequestState> states_;
  std::vector<Slot> free_;
};

}  // namespace kvsim::engine
