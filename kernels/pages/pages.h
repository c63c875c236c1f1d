#pragma once
#include <cstdint>

#include "kernels/device/global.h"
#include "kernels/host/variants.h"
#include "kernels/numbers/numbers.h"

// Moving pages of keys and values about: between the pool and host memory, from a step's new rows
// into the pool, and from HBM into L2 ahead of use.
namespace kvsim::kernels {

// Pages of any content. Page i of the list is ids[i] of the pool and i of `host`, which is memory
// of the host that kernels reach. Gather copies pool to host, scatter host to pool (ids distinct).
struct MovePagesArgs {
  Global<Words4> pool, host;
  Global<const std::int32_t> ids;  // [pages]
  std::int64_t pages = 0;
  int page_words = 0;  // vectors of 16 bytes
};

// New rows [token][kv head][head_dim] go to the pools of attention/paged_kv.h,
// [page][kv head][slot][head_dim]. Token t goes to page slots[t] / page_tokens, slot slots[t] %
// page_tokens; with slots[t] < 0 (padding of a batch) it goes nowhere.
struct AppendArgs {
  Global<const Bf16> new_keys, new_values;
  Global<Bf16> keys, values;
  Global<const std::int64_t> slots;  // [tokens]
  int tokens = 0, kv_heads = 1;
  int head_dim = 128;  // a multiple of 8
  int log_page = 4;    // page_tokens = 2^log_page
};

// A kernel that computes for a while and asks meanwhile for pages that the next kernel will read:
//   1. every thread steps a counter `rounds` times and stores it to busy[thread]
//   2. sums[i] = sum modulo 2^32 of the 32-bit words of page ids[i] of both pools
struct PrefetchArgs {
  Global<const Words4> keys, values;
  Global<const std::int32_t> ids;  // [pages]
  Global<std::uint32_t> busy;      // [blocks * prefetch_threads]
  Global<std::uint32_t> sums;      // [pages]
  int pages = 0, page_words = 0;
  int rounds = 0;
  unsigned blocks = 1;
};
constexpr unsigned prefetch_threads = 256;

// What a thread's counter goes through.
KVSIM_FN inline std::uint32_t next_count(std::uint32_t x) { return x * 1664525U + 1013904223U; }

namespace cpu {
VariantList<MovePagesArgs> gather_variants();
VariantList<MovePagesArgs> scatter_variants();
VariantList<AppendArgs> append_variants();
VariantList<PrefetchArgs> prefetch_variants();
}  // namespace cpu
namespace gpu {
VariantList<MovePagesArgs> gather_variants();
VariantList<MovePagesArgs> scatter_variants();
VariantList<AppendArgs> append_variants();
VariantList<PrefetchArgs> prefetch_variants();
}  // namespace gpu

}  // namespace kvsim::kernels
