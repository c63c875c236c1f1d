#pragma once
#include <cstdint>
#include <span>

#include "engine/options/trtllm_options.h"

namespace kvsim::engine {

// TensorRT-LLM's second scheduler: which of the requests that may hold KV run in this iteration,
// and with how many tokens (microBatchScheduler.cpp, 0a949d31).
struct MicroBatchItem {
  bool context = false;     // its prompt is not computed yet
  std::int64_t wanted = 1;  // tokens: what is left of the prompt, or those of a decode step
  std::int64_t tokens = 0;  // the answer; 0: not in this iteration
};

struct MicroBatchLimits {
  std::int64_t max_batch_size = 0;
  std::int64_t max_num_tokens = 0;
  bool chunked_context = true;
  ContextChunkingPolicy policy = ContextChunkingPolicy::first_come_first_served;
  std::int64_t chunk_unit = 32;  // tokens per block
};

enum class MicroBatchEnd { all_fit, max_batch_size, max_num_tokens };

// Fills `tokens` of every item, in their order; answers what kept the first of them out or cut it.
//
// Generations and, without chunking, whole contexts are taken until one exceeds the tokens or the
// batch is full. With chunking the contexts share what the generations leave: all of it if it is
// enough; else FIRST_COME_FIRST_SERVED gives each in turn as much as possible, in whole units where
// it is not the rest of a prompt, and EQUAL_PROGRESS one unit to each per round. O(items), with
// EQUAL_PROGRESS O(items * rounds).
MicroBatchEnd fill_micro_batch(std::span<MicroBatchItem> items, const MicroBatchLimits& limits);

}  // namespace kvsim::engine
