#pragma once
#include <cstdint>
#include <vector>

#include "engine/request_table.h"

namespace kvsim::engine {

// What kept the first waiting request out of a step.
enum class Refusal { none, kv_blocks, max_num_seqs, token_budget, preemption };

// What one step does, in the order the scheduler decided it. The vectors are reused from step to
// step.
struct StepPlan {
  struct Scheduled {
    Slot slot;
    std::int32_t tokens;    // query tokens in this step
    std::int32_t computed;  // tokens with KV before it
  };
  struct Hit {
    Slot slot;
    std::int64_t tokens;        // prefix found at admission
    std::int64_t known_tokens;  // looked up
    bool resumed;               // after a preemption
  };
  std::vector<Scheduled> scheduled;
  std::vector<Hit> admitted;
  struct Preempted {
    Slot slot;
    std::int32_t lost;  // computed tokens it forgets
  };
  std::vector<Preempted> preempted;
  std::vector<Slot>
      finished;  // by the engine: those that this step's tokens complete, in order of processing
  std::int64_t running = 0, waiting = 0;  // after scheduling; preempted requests wait
  std::int64_t free_blocks = 0;           // after scheduling
  Refusal refusal = Refusal::none;        // none also when nobody waits

  void clear() {
    scheduled.clear();
    admitted.clear();
    preempted.clear();
    finished.clear();
    refusal = Refusal::none;
  }
};

}  // namespace kvsim::engine
