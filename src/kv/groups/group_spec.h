#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

// What one KV cache group keeps of a request. After vLLM V1's kv_cache_interface.py and
// single_type_kv_cache_manager.py (main, 2026-08-17).
namespace kvsim::kv {

enum class GroupKind { full, sliding_window, chunked_local, mamba };

// Recurrent states that stay reusable (vLLM's mamba_cache_mode): one state per request and no
// reuse; the states at the ends of chunks, which end on block boundaries; the state at every block
// boundary.
enum class StateMode { none, align, all };

inline constexpr std::int64_t ceil_blocks(std::int64_t tokens, std::int64_t block_tokens) {
  return (tokens + block_tokens - 1) / block_tokens;
}

// Layers that keep KV alike and share one block table per request.
struct GroupSpec {
  GroupKind kind = GroupKind::full;
  std::int64_t block_tokens = 16;
  std::int64_t window = 0;                // sliding_window: tokens seen, the current one included
  std::int64_t attention_chunk_size = 0;  // chunked_local

  bool operator==(const GroupSpec&) const = default;

  std::int64_t blocks(std::int64_t tokens) const { return ceil_blocks(tokens, block_tokens); }

  // Leading tokens that no later token of a request with `computed` tokens reads.
  std::int64_t skipped_tokens(std::int64_t computed) const {
    switch (kind) {
      case GroupKind::full:
        return 0;
      case GroupKind::sliding_window:
        return std::max<std::int64_t>(0, computed - window + 1);
      case GroupKind::chunked_local:
        return computed / attention_chunk_size * attention_chunk_size;
      case GroupKind::mamba:
        return std::max<std::int64_t>(0, computed - 1);
    }
    return 0;
  }
  std::int64_t skipped_blocks(std::int64_t computed) const {
    return skipped_tokens(computed) / block_tokens;
  }
  // The first count of computed tokens that skips more than `blocks` leading blocks; none: never.
  std::optional<std::int64_t> skips_next_at(std::int64_t blocks) const {
    const std::int64_t tokens = (blocks + 1) * block_tokens;
    switch (kind) {
      case GroupKind::full:
        return std::nullopt;
      case GroupKind::sliding_window:
        return tokens + window - 1;
      case GroupKind::chunked_local:
        return ceil_blocks(tokens, attention_chunk_size) * attention_chunk_size;
      case GroupKind::mamba:
        return tokens + 1;
    }
    return std::nullopt;
  }
  // Blocks that the gate on the full input counts at most: what lies behind the window is given
  // back while the input is computed in steps of up to `in_flight` tokens.
  std::optional<std::int64_t> admission_cap(std::int64_t in_flight,
                                            std::int64_t max_model_len) const {
    switch (kind) {
      case GroupKind::sliding_window:
        return blocks(std::min(window - 1 + in_flight, max_model_len)) + 1;
      case GroupKind::chunked_local:
        return blocks(std::min(attention_chunk_size + in_flight, max_model_len));
      case GroupKind::full:
      case GroupKind::mamba:
        return std::nullopt;
    }
    return std::nullopt;
  }
};

}  // namespace kvsim::kv
