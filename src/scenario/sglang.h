#pragma once
#include <string>
#include <vector>

#include "scenario/pool.h"

// What SGLang itself decides about its settings when it starts (server_args.py, main of
// 2026-07-20).
namespace kvsim::scenario {

// Before the pool is sized: settings that SGLang refuses together, and one setting where two names
// say the same. Remarks go to `warnings`.
void settle_sglang(engine::EngineConfig& config, std::vector<std::string>& warnings,
                   const FieldError& error);

}  // namespace kvsim::scenario
