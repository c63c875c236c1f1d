#pragma once
#include <string>
#include <vector>

#include "scenario/pool.h"

// What SGLang itself decides about its settings when it starts (server_args.py,
// kv_cache_configurator.py, main of 2026-07-20).
namespace kvsim::scenario {

// Before the pool is sized: settings that SGLang refuses together, and one setting where two names
// say the same. Remarks go to `warnings`.
void settle_sglang(engine::EngineConfig& config, std::vector<std::string>& warnings,
                   const FieldError& error);

// max_running_requests when none is given: 512 for every request of full context that the pool
// holds, at least 2048 and at most 4096, but no more than half the slots, nor than the requests
// whose recurrent state there is room for (0 = no limit).
std::int64_t sglang_max_running(std::int64_t pool_tokens, std::int64_t context_length,
                                std::int64_t state_slots);

}  // namespace kvsim::scenario
