#pragma once
#include <array>

#include "engine/registry.h"

namespace kvsim::engine {

// What the profile `trtllm` follows, for its registry row and `kvsim explain profile trtllm`.
inline constexpr std::array trtllm_rules{
    ProfileRule{"two schedulers per iteration: the capacity scheduler chooses who may hold KV, the "
                "micro-batch scheduler who runs with how many tokens",
                "cpp/tensorrt_llm/batch_manager/capacityScheduler.cpp, microBatchScheduler.cpp"},
    ProfileRule{"GUARANTEED_NO_EVICT: who has started goes on with ceil((prompt + max_tokens) / "
                "tokens per block) blocks set aside; others join in order of arrival while theirs "
                "fit, the first that does not stops the loop; nobody is paused",
                "capacityScheduler.cpp"},
    ProfileRule{"MAX_UTILIZATION: each must fit its next step; for one that does not, the last "
                "request that has started is paused, and none behind it is looked at",
                "capacityScheduler.cpp"},
    ProfileRule{"STATIC_BATCH: new requests only when no request runs", "capacityScheduler.cpp"},
    ProfileRule{
        "a paused request loses its KV, keeps its place and outputs, and computes prompt and "
        "outputs again, but for what is still cached",
        "capacityScheduler.cpp, llmRequest.h"},
    ProfileRule{"a request whose first missing block is being computed by another waits for it",
                "capacityScheduler.cpp"},
    ProfileRule{
        "the micro-batch ends at max_batch_size or max_num_tokens; contexts that do not fit "
        "are cut to whole blocks, in turn (FIRST_COME_FIRST_SERVED) or a block each per "
        "round (EQUAL_PROGRESS); without chunking the first that does not fit ends it",
        "microBatchScheduler.cpp"},
    ProfileRule{"a first chunk gets blocks for the whole prompt", "kvCacheManager.cpp"},
    ProfileRule{
        "reuse: the longest path of full blocks, then part of one more, copied; at most all "
        "tokens but the last",
        "kvCacheManager.cpp, docs/source/features/kvcache.md"},
    ProfileRule{"eviction: lowest retention priority first, least recently released inside it, "
                "leaves only",
                "evictionPolicy.cpp, docs/source/features/kvcache.md"},
    ProfileRule{"with host_cache_size, evicted blocks of at least secondary_offload_min_priority "
                "move to the host and come back on a hit",
                "kvCacheManager.cpp, evictionPolicy.cpp"},
};

}  // namespace kvsim::engine
