#pragma once
#include <memory>

#include "engine/profile.h"

namespace kvsim::engine {

// vLLM V1's scheduler (vllm/v1/core/sched/scheduler.py, main of 2026-08-17):
//
//   1. running requests first, in order of admission: decodes and prefill chunks alike;
//   2. if a block is missing, the last running request (priority policy: the least urgent) is
//      preempted: its blocks are freed, its computed tokens forgotten, its outputs kept;
//   3. waiting requests are admitted only in a step that preempts nobody, in order, until the token
//      budget, max_num_seqs or the blocks end; the first that does not fit stops the pass;
//   4. with reserve_full_input, admission needs free blocks for the whole input, not the first
//      chunk;
//   5. blocks are hashed when they get their tokens, so equal prompts share within one step;
//      recurrent states cannot be shared before the next;
//   6. drafts are verified beside the newest token; a request admitted with a single token left
//      joins decodes that verify drafts at their length, its places filled with drafts.
//
// The KV cache has one full-attention group, or those of SchedulerLimits::vllm.kv_groups
// or, where they are not given, model_groups.
std::unique_ptr<Profile> make_vllm_v1(const SchedulerLimits& limits, RequestTable& requests);

// The same as it was in 2025: no gate on the full input, every freed block at the tail of the free
// queue, and one waiting queue, to whose head skipped requests return.
std::unique_ptr<Profile> make_vllm_v1_2025(const SchedulerLimits& limits, RequestTable& requests);

}  // namespace kvsim::engine
