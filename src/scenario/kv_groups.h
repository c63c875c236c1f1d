#pragma once
#include <string>
#include <vector>

#include "engine/engine_config.h"
#include "scenario/pool.h"

namespace kvsim::scenario {

// Holds the fields about vLLM's KV cache groups against each other and the block size, which is
// resolved. Problems go to `error`; what vLLM decides otherwise than asked goes to `warnings`.
void check_kv_groups(const engine::EngineConfig& config, std::vector<std::string>& warnings,
                     const FieldError& error);

}  // namespace kvsim::scenario
