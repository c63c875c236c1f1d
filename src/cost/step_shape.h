#pragma once
#include <array>
#include <cstdint>

namespace kvsim::cost {

inline constexpr int max_groups = 8;  // layer groups that a step's attention is summed over

// What one engine step does, summed over its requests: all that a step's time depends on. Filling
// it costs a few additions per scheduled request and no allocation; cost/step_fill.h does it by the
// read rules of a model's groups.
struct StepShape {
  std::int64_t tokens = 0;          // query tokens of the step: prefill chunks and decodes
  std::int64_t prefill_tokens = 0;  // of these, in chunks of more than one token
  std::int64_t prefill_requests = 0;
  std::int64_t decode_requests = 0;  // requests with one query token (or a speculative verify)
  std::int64_t sampled_rows = 0;     // rows that go through the LM head

  struct Group {
    double decode_kv_tokens = 0;   // sum over decodes of the KV tokens read (once per request)
    double decode_pairs = 0;       // sum over decodes of (query, key) pairs
    double prefill_pairs = 0;      // sum over chunks of (query, key) pairs under the causal mask
    double prefill_kv_tokens = 0;  // sum over chunks of the KV tokens read once per chunk
  };
  Group context;                           // over the whole context: full attention, indexers
  std::array<Group, max_groups> groups{};  // by layer group, under its own read rule
};

}  // namespace kvsim::cost
