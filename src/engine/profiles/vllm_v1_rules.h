#pragma once
#include <array>

#include "engine/registry.h"

namespace kvsim::engine {

// What the profile `vllm-v1` follows, for its registry row and `kvsim explain profile vllm-v1`.
inline constexpr std::array vllm_v1_rules{
    ProfileRule{
        "there is no prefill or decode phase: a step computes what a request's known tokens "
        "are ahead of its computed ones; it samples when the two meet",
        "vllm/v1/core/sched/scheduler.py"},
    ProfileRule{"running requests first, in order of admission, each at most "
                "long_prefill_token_threshold and what is left of max_num_batched_tokens",
                "vllm/v1/core/sched/scheduler.py"},
    ProfileRule{"without a free block the last running request (policy priority: the one with the "
                "largest value, then the latest arrival) is preempted: it gives its blocks back, "
                "forgets its computed tokens, keeps its outputs, goes to the head of the queue",
                "vllm/v1/core/sched/scheduler.py"},
    ProfileRule{"waiting requests are admitted in a step that preempts nobody, in order, until the "
                "tokens, max_num_seqs or the blocks end; the first that does not fit ends the pass",
                "vllm/v1/core/sched/scheduler.py"},
    ProfileRule{"scheduler_reserve_full_isl: admission needs free blocks for the whole input; "
                "watermark: and a share of the pool besides, while others run",
                "vllm/v1/core/kv_cache_manager.py"},
    ProfileRule{"full blocks are hashed when they get their tokens, before the step runs: equal "
                "prompts share within one step; duplicates are not merged",
                "vllm/v1/core/kv_cache_manager.py, block_pool.py"},
    ProfileRule{
        "a hit is the longest run of cached blocks from the start, at most all tokens but the "
        "last; the salt enters the first block alone",
        "vllm/v1/core/kv_cache_manager.py"},
    ProfileRule{
        "free blocks stand in one queue: unhashed ones are put at its head, hashed ones at "
        "its tail, the last of a request first; allocation takes the head and evicts its hash",
        "vllm/v1/core/block_pool.py"},
    ProfileRule{
        "async_scheduling: the next step is scheduled before the running one's tokens exist; "
        "a stop that only a token shows is seen one step late",
        "vllm/v1/core/sched/async_scheduler.py"},
};

}  // namespace kvsim::engine
