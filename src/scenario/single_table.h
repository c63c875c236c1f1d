#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/engine_config.h"
#include "memory/pool.h"

// Engines and models that are run on one block table per request although their layers do not all
// grow alike: what that means for the pool and for reuse. vLLM's models run on its KV groups.
namespace kvsim::scenario {

// Prefixes of models with recurrent states are not reused by engines whose state caches are not
// modelled: prefix caching is switched off with a remark.
void settle_reuse(const spec::ModelSpec& model, engine::EngineConfig& config,
                  std::vector<std::string>& warnings);

// Usable blocks of the one table. Window layers are charged their full length. The recurrent states
// of all requests that can run are set aside, and max_num_seqs is lowered to those that have one;
// SGLang sizes their pool for itself.
std::int64_t single_table_blocks(const memory::Pool& pool, engine::EngineConfig& config,
                                 std::vector<std::string>& warnings);

}  // namespace kvsim::scenario
