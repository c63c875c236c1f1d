#pragma once
#include <memory>

#include "engine/profile.h"

namespace kvsim::engine {

// TensorRT-LLM's two schedulers and its first KV cache manager, one iteration after the other
// (capacityScheduler.cpp 02a10fed, microBatchScheduler.cpp 0a949d31, evictionPolicy.cpp 05a91919;
// docs/explanation/trtllm.md):
//
//   1. the capacity scheduler (capacity.h) chooses the requests that may hold KV, and under
//      MAX_UTILIZATION pauses others: they lose their blocks, keep their place and their outputs,
//      and compute all of it again later, but for what is still cached;
//   2. the micro-batch scheduler (micro_batch.h) gives the chosen their tokens;
//   3. a first chunk gets blocks for the whole prompt, reused ones among them (kv/reuse); its chunk
//      ends at a block boundary unless the prompt does, and the budget was charged without the hit;
//   4. full blocks of a prompt can be reused once its context is finished, all blocks once the
//      request has ended or is paused.
//
// Cost per step: O(running), and O(blocks of the prompt) for each waiting request that is looked
// at.
std::unique_ptr<Profile> make_trtllm(const SchedulerLimits& limits, RequestTable& requests);

}  // namespace kvsim::engine
