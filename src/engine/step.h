#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/kv_use.h"
#include "engine/request_table.h"

namespace kvsim::engine {

// What kept the first waiting request out of a step.
enum class Refusal { none, kv_blocks, max_num_seqs, token_budget, preemption };

// What a step runs, where an engine keeps the two phases apart.
enum class StepMode { prefill, decode, mixed };
inline constexpr std::array<std::string_view, 3> step_mode_names{"prefill", "decode", "mixed"};

// What one step does, in the order the scheduler decided it. The vectors are reused from step to
// step.
struct StepPlan {
  struct Scheduled {
    Slot slot = no_slot;
    std::int32_t tokens = 0;    // query tokens in this step, drafts included
    std::int32_t computed = 0;  // tokens with KV before it
    std::int32_t drafts = 0;    // of the tokens, drafts that the step verifies
    bool samples = false;       // the step reaches the last known token and emits
    std::uint32_t epoch = 0;    // RequestState::epoch when it was scheduled
    std::int32_t emitted = 0;   // by the engine, before complete(): tokens that came of it
  };
  struct Hit {
    Slot slot = no_slot;
    std::int64_t tokens = 0;        // prefix found at admission
    std::int64_t known_tokens = 0;  // looked up
    bool resumed = false;           // after a preemption
  };
  std::vector<Scheduled> scheduled;
  std::vector<Hit> admitted;
  struct Preempted {
    Slot slot = no_slot;
    std::int32_t lost = 0;  // computed tokens it forgets
  };
  std::vector<Preempted> preempted;  // paused and retracted requests too
  // By the engine: those that this step's tokens complete, in order of processing.
  std::vector<Slot> finished;
  std::int64_t running = 0, waiting = 0;  // after scheduling; preempted requests wait
  std::int64_t free_blocks = 0;           // after scheduling
  Refusal refusal = Refusal::none;        // none also when nobody waits
  // By profiles that reserve more than they fill; elsewhere the engine counts whole blocks.
  std::optional<KvUse> kv_use;

  // Engines with a radix tree.
  struct Radix {
    StepMode mode = StepMode::prefill;
    std::int64_t available = 0;  // free slots, tokens
    std::int64_t evictable = 0;  // in the tree, unlocked
    std::int64_t locked = 0;     // in the tree, locked ("protected")
    double new_token_ratio = 0;  // after the step's decision
  };
  std::optional<Radix> radix;
  // Engines with a host pool behind it.
  struct Loaded {
    Slot slot = no_slot;
    std::int64_t tokens = 0;
  };
  std::optional<std::int64_t> host_used;  // tokens
  std::vector<Loaded> loaded;             // from the host at admission, part of the hit
  std::vector<Loaded> loaded_only;        // for a request that was then not admitted

  void clear() {
    scheduled.clear();
    admitted.clear();
    preempted.clear();
    finished.clear();
    refusal = Refusal::none;
    kv_use.reset();
    radix.reset();
    host_used.reset();
    loaded.clear();
    loaded_only.clear();
  }
};

}  // namespace kvsim::engine
