#pragma once
#include <cstdint>
#include <string>

#include "memory/pool.h"

namespace kvsim::planner {

// Tokens that a pool keeps in practice, beside the count that the engine prints.
//
// Plain attention: the printed count without the null block. With prefix caching, models with
// recurrent states or windows keep more than a running request needs: a state (`align` and `all`
// checkpoint one per attention block) and the window layers' blocks of every cached block, all from
// the same pool. The count is then that of tokens whose KV and states are all kept,
// floor((blocks - 1) / groups) whole blocks, a lower bound where the engine keeps fewer of them
// (prefix_cache_retention_interval 0 keeps those at the ends of prompts and at shared prefixes).
// Without prefix caching: what running requests of max_model_len hold.
// Sequence compression, engines other than vLLM and vLLM before V1: the printed count.
struct Usable {
  std::int64_t tokens = 0;
  std::string note;  // the arithmetic
};

Usable usable_tokens(const memory::Pool& pool);

}  // namespace kvsim::planner
