#pragma once
#include <cstdint>

#include "kernels/attention/merge.h"
#include "kernels/attention/paged_kv.h"
#include "kernels/host/variants.h"

// Decode attention that keeps H2O's account of which tokens matter ("heavy hitters", Zhang et al.
// 2023): acc[sequence][kv head][token] += the softmax probability of the token, summed over the
// query heads of the kv head. Each step adds heads_per_group to every (sequence, kv head).
namespace kvsim::kernels {

struct H2oArgs {
  Global<const Bf16> q;  // [sequence][query head][head_dim]
  PagedKv kv;
  int sequences = 0, heads_per_group = 1;  // at most 16 heads
  int log_page = 4;
  float scale_log2 = 1;       // softmax scale times log2(e)
  Global<Bf16> out;           // [sequence][query head][head_dim]
  Global<float> lse;          // [sequence][query head], natural
  Global<float> accumulated;  // [sequence][kv head][stride]
  int stride = 0;             // a multiple of 4, at least the longest sequence
  // For versions that split sequences: scores [sequence][query head][stride] in base 2, partial
  // results, and how many tokens (a multiple of 64) each of the `splits` takes.
  Global<float> scores;
  Partials partials;
  int splits = 1, split_tokens = 64;
};

// Kept rows move to the front of new pages, order kept: row j of (sequence, kv head) of the new
// cache is row kept[sequence][kv head][j] of the old one, and its account moves with it.
struct CompactArgs {
  PagedKv from;
  Global<Bf16> keys, values;             // the new pools; the layout of `from`
  Global<const std::int32_t> table;      // [sequence][max_pages], pages of the new pools
  Global<const std::int32_t> kept;       // [sequence][kv head][max_kept], ascending
  Global<const std::int32_t> kept_lens;  // [sequence]
  Global<const float> accumulated;       // [sequence][kv head][stride]
  Global<float> new_accumulated;         // [sequence][kv head][max_kept]
  int sequences = 0, max_pages = 0, max_kept = 0, stride = 0, log_page = 4;
};

namespace cpu {
VariantList<H2oArgs> h2o_variants();
VariantList<CompactArgs> compact_variants();
}  // namespace cpu
namespace gpu {
VariantList<H2oArgs> h2o_variants();
VariantList<CompactArgs> compact_variants();
}  // namespace gpu

}  // namespace kvsim::kernels
