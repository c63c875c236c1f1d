#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/profiles/sglang/kv_state.h"

namespace kvsim::engine::sglang {

inline constexpr std::int64_t clip_max_new_tokens = 4096;

// Decides which requests a prefill batch takes (managers/schedule_policy.py, PrefillAdder).
//
// A request must fit: its tokens to compute, its outputs to come (at most 4096) and a page, in what
// is free or evictable less what is reserved for those that run. Then two budgets apply: the chunk,
// at which the last request is cut, and max_prefill_tokens, which stops the batch once it is used
// up; without chunks it keeps a request out that would exceed it, but for the first.
class PrefillAdder {
 public:
  PrefillAdder(const SchedulerLimits& limits, KvState& kv);

  // A new batch: `reserved` slots for running requests, `decodes` of them part of it.
  void begin(double reserved, std::int64_t decodes);
  // The next chunk of the request in prefill. It is taken whatever admission would say, for its
  // request holds slots that nobody else can use; where not one page is left it waits (SGLang would
  // run out of memory).
  enum class Chunk { last, goes_on, waits };
  Chunk add_chunk(Slot slot);
  enum class Verdict { go_on, budget_used, no_token };
  struct Answer {
    Verdict verdict = Verdict::go_on;
    bool added = false;
    std::int64_t loaded = 0;  // from the host, added or not
  };
  Answer add(Slot slot);
  // Running requests gave way.
  void give_back(double reserved) { reserved_ -= reserved; }

  const std::vector<Slot>& batch() const { return batch_; }
  Slot cut() const { return cut_; }  // the request whose prompt goes on in the next batch
  double free_total() const;         // slots for whatever is added next
  bool chunks() const { return chunk_size_.has_value(); }

 private:
  bool fits(std::int64_t tokens) const { return static_cast<double>(tokens) < free_total(); }
  Answer decide(Slot slot);
  void spend(std::int64_t extend, std::int64_t outputs);
  std::int64_t most_outputs(Slot slot) const;
  Verdict budget() const;

  KvState& kv_;
  std::optional<std::int64_t> chunk_size_;
  std::int64_t max_prefill_tokens_;
  double reserved_ = 0;            // for all that is admitted, to its end
  std::int64_t reserved_now_ = 0;  // for this batch alone
  std::int64_t input_left_ = 0, chunk_left_ = 0;
  std::vector<Slot> batch_;
  Slot cut_ = no_slot;
};

}  // namespace kvsim::engine::sglang
