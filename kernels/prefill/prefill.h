#pragma once
#include <cstdint>

#include "kernels/attention/paged_kv.h"
#include "kernels/device/global.h"
#include "kernels/host/variants.h"

namespace kvsim::kernels {

enum class Mask { none, causal };

// Attention of the last q_len tokens of each sequence to its K/V cache, which holds theirs already:
// a whole prompt where q_len is the cache's length, a chunk of one where it is less.
//
//   q, out   [query of all sequences][q_heads][head_dim] bf16; sequence b has the queries
//            q_start[b] ... q_start[b + 1] - 1, at the last positions of its cache
//   lse      [query of all sequences][q_heads], natural log of the sum of exp(score); may be null
//
// Query heads are groups of q_heads / kv.kv_heads that share a K/V head. A causal query sees the
// tokens up to its own position; one before the cache's first token sees none: zeros, lse -inf.
struct PrefillArgs {
  Global<const Bf16> q = {};
  PagedKv kv = {};
  int log_page = contiguous_kv;
  Global<const std::int32_t> q_start = {};
  Global<Bf16> out = {};
  Global<float> lse = {};
  int sequences = 0, q_heads = 0;
  int max_q_len = 0;  // of the sequences
  Mask mask = Mask::causal;
  float scale = 1;  // score = scale * (query . key), scale > 0
};

namespace cpu {
VariantList<PrefillArgs> prefill_variants();
}
namespace gpu {
VariantList<PrefillArgs> prefill_variants();
}

}  // namespace kvsim::kernels
