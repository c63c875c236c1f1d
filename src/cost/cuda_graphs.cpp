#include <algorithm>

#include "cost/cost_model.h"

// Captured sizes of vLLM (vllm/config, 2026-08): 1, 2, 4, 8..248 by 8, 256.. by 16.
namespace kvsim::cost {

std::int64_t cuda_graph_limit(std::int64_t max_num_batched_tokens, std::int64_t max_num_seqs,
                              std::int64_t spec_tokens, const spec::GpuSpec& gpu) {
  const bool datacenter_blackwell =
      gpu.architecture.starts_with("blackwell") && gpu.memory.value() >= 160 * gib;
  const std::int64_t cap = datacenter_blackwell ? 1024 : 512;
  return std::min({max_num_batched_tokens, max_num_seqs * (1 + spec_tokens) * 2, cap});
}

std::int64_t cuda_graph_size(std::int64_t tokens, std::int64_t limit) {
  if (tokens <= 0 || tokens > limit) return tokens;
  if (tokens <= 2) return tokens;
  if (tokens <= 4) return std::min<std::int64_t>(4, limit);
  const std::int64_t step = tokens > 248 ? 16 : 8;
  return std::min(ceil_div(tokens, step) * step, limit);
}

std::int64_t cuda_graph_count(std::int64_t limit) {
  std::int64_t count = 0;
  for (std::int64_t size = 1; size <= limit; ++count)
    size = size < 4 ? size * 2 : size < 8 ? 8 : size < 256 ? size + 8 : size + 16;
  return count;
}

}  // namespace kvsim::cost
