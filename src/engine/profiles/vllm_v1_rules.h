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
        "last; the salt enters the first block alone, a LoRA adapter every block",
        "vllm/v1/core/kv_cache_manager.py"},
    ProfileRule{"a request whose adapter would be one more than max_loras in the step is skipped "
                "and others overtake it; skipped requests are tried first in the next step",
                "vllm/v1/core/sched/scheduler.py"},
    ProfileRule{
        "free blocks stand in one queue: unhashed ones are put at its head, hashed ones at "
        "its tail, the last of a request first; allocation takes the head and evicts its hash",
        "vllm/v1/core/block_pool.py"},
    ProfileRule{
        "layers that keep KV differently lie in groups: a block table each per request, one "
        "pool for all; what lies behind a window or in an earlier chunk of attention is "
        "given back by the request's next allocation",
        "vllm/v1/core/kv_cache_coordinator.py, single_type_kv_cache_manager.py"},
    ProfileRule{"a recurrent group holds one state and one block per drafted token for a request; "
                "mamba_cache_mode align ends chunks on block boundaries and keeps the states there",
                "vllm/v1/core/single_type_kv_cache_manager.py, sched/scheduler.py"},
    ProfileRule{"a prefix is cached where every group can go on: all blocks of full attention, the "
                "last window, the last chunk, the rightmost state; groups shorten each other until "
                "none does",
                "vllm/v1/core/kv_cache_coordinator.py"},
    ProfileRule{
        "prefix_cache_retention_interval: window blocks and states stay reusable at the end "
        "of prompts and of shared prefixes (0), also every n tokens (n), or all (null)",
        "vllm/v1/core/kv_cache_coordinator.py, vllm/config/cache.py"},
    ProfileRule{
        "speculation: a decode computes a token and its K drafts; rejected drafts are not "
        "computed tokens; eagle, eagle3, mtp and draft_model hold K lookahead slots; draft_model "
        "and parallel drafting take input slots of the step besides",
        "vllm/v1/core/sched/scheduler.py, kv_cache_manager.py"},
    ProfileRule{"eagle, eagle3 and mtp compute the last block of a prefix hit again",
                "vllm/v1/core/kv_cache_coordinator.py, single_type_kv_cache_manager.py"},
    ProfileRule{
        "async_scheduling: the next step is scheduled before the running one's tokens exist; "
        "a stop that only a token shows is seen one step late",
        "vllm/v1/core/sched/async_scheduler.py"},
};

// Where the profile `vllm-v1-2025` differs from it.
inline constexpr std::array vllm_v1_2025_rules{
    ProfileRule{"as vllm-v1, but for the rules below", "vllm-v1"},
    ProfileRule{"every freed block is put at the tail of the free queue, hashed or not",
                "vllm/v1/core/block_pool.py of 2025"},
    ProfileRule{"a request is admitted if its first chunk fits; nothing is kept for the rest",
                "vllm/v1/core/sched/scheduler.py of 2025"},
    ProfileRule{"one waiting queue: skipped requests return to its head, a request preempted "
                "later stands before them",
                "vllm/v1/core/sched/scheduler.py of 2025"},
    ProfileRule{"gpu_memory_utilization is 0.90 and CUDA graphs lie outside the budget",
                "vllm/config/cache.py of 2025"},
};

}  // namespace kvsim::engine
