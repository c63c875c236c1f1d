#pragma once
#include <string>
#include <vector>

#include "kv/groups/group_spec.h"
#include "scenario/pool.h"

namespace kvsim::scenario {

// Holds the fields about vLLM's KV cache groups against each other and the block size, which is
// resolved. Problems go to `error`; what vLLM decides otherwise than asked goes to `warnings`.
void check_kv_groups(const ResolvedPool& pool, std::vector<std::string>& warnings,
                     const FieldError& error);

// The groups that the pool's model has, as the memory rules cut its layers; empty where one table
// of full-attention blocks serves: a single kind of layers, another engine, groups that the
// scenario gives itself.
std::vector<kv::GroupSpec> model_groups(const ResolvedPool& pool);

// Blocks that one request of `tokens` tokens needs at the start of the engine, over all groups.
std::int64_t blocks_for_request(const ResolvedPool& pool, std::int64_t tokens);

}  // namespace kvsim::scenario
