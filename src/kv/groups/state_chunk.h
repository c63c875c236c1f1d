#pragma once
#include <cstdint>

namespace kvsim::kv {

// Where prefill chunks end so that the states at block boundaries come to be (mamba_cache_mode
// align; vLLM V1's scheduler, main of 2026-08-17).
struct StateChunks {
  std::int64_t block_tokens = 16;
  std::int64_t match_unit = 16;    // smaller than a block: a prompt's last multiple is a stop
  std::int64_t largest_chunk = 0;  // that a step could schedule of one request
  bool drops_last_block = false;

  struct Chunk {
    std::int64_t computed = 0, tokens = 0;  // [computed, computed + tokens) fits the budget
    std::int64_t known = 0, prompt = 0;     // tokens known and of the prompt
    std::int64_t shared_prefix = 0;         // one more stop, 0: none
  };
  // Tokens of the chunk that are scheduled. A chunk that does not reach the end of the known tokens
  // ends on a block boundary; none fits: 0, unless a block is larger than any chunk. The last full
  // block is a stop too (with a drafter the one before it), and a chunk that starts inside a block
  // ends with it. Decodes are left as they are.
  std::int64_t cut(const Chunk& chunk) const;
};

}  // namespace kvsim::kv
