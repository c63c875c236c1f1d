#pragma once
#include <vector>

#include "memory/pool.h"
#include "memory/stage.h"

// One function per engine: from the stages to the pool it prints. `pool.options` is filled in.
namespace kvsim::memory {

void size_vllm(Pool& pool, const spec::ModelSpec& model, const std::vector<Stage>& stages);
void size_sglang(Pool& pool, const spec::ModelSpec& model, const std::vector<Stage>& stages);
void size_trtllm(Pool& pool, const std::vector<Stage>& stages);
void size_static(Pool& pool, const std::vector<Stage>& stages);
void size_llamacpp(Pool& pool, const spec::ModelSpec& model, const std::vector<Stage>& stages);

// Takes the stage's KV as what remains of `budget` after the other lines (or as given by
// kv_cache_memory, the budget then being the sum), and closes the ledger.
void close_ledger(Pool& pool, Bytes budget);

// Bytes of one sequence of `tokens`, compressor state included.
double sequence_bytes(const kvformat::Footprint& footprint, std::int64_t tokens);

// For engines without a common block count: the stage that leaves least room per byte of a sequence
// decides. Puts its weights and what lies outside the tensor allocator on the ledger.
const Stage& take_poorest(Pool& pool, const std::vector<Stage>& stages);

// As many requests of max_model_len as fit, where a constant part comes with every sequence.
void size_by_sequence(Pool& pool);

// Nothing but bytes per token.
bool grows_only(const kvformat::Footprint& footprint);

}  // namespace kvsim::memory
