#pragma once
#include <cstdint>

#include "kernels/device/global.h"
#include "kernels/numbers/numbers.h"

// Where a token's key and value lie. Two pools of the same shape, keys and values apart, heads
// outside tokens ("HND"), so that the tokens of one head in one page are contiguous:
//
//   pool    [physical page][kv head][slot in page][head_dim]   bf16
//   table   [sequence][max_pages]   page t / page_tokens of a sequence -> physical page
//   lens    [sequence]              tokens that exist
//
// Contiguous K/V is the special case of one page per sequence: page_tokens = longest sequence, no
// table, page b belongs to sequence b.
namespace kvsim::kernels {

// What kernels take as template argument `log_page` for K/V without pages.
constexpr int contiguous_kv = -1;

struct PagedKv {
  Global<const Bf16> keys, values;
  Global<const std::int32_t> table;  // null: contiguous
  Global<const std::int32_t> lens;
  int max_pages = 0, page_tokens = 0;
  int kv_heads = 0, head_dim = 0;

  // Elements before the row of (physical page, kv head, slot), in either pool.
  KVSIM_FN std::int64_t row(int page, int kv_head, int slot) const {
    return ((static_cast<std::int64_t>(page) * kv_heads + kv_head) * page_tokens + slot) * head_dim;
  }
  // Where in the table the page of a token is named.
  KVSIM_FN std::int64_t table_entry(int sequence, int page_of_sequence) const {
    return static_cast<std::int64_t>(sequence) * max_pages + page_of_sequence;
  }
};

// log2 of a page size, contiguous_kv for 0 (no pages). The page size is a power of two.
KVSIM_FN inline int log_page_of(int page_tokens) {
  if (page_tokens == 0) return contiguous_kv;
  int log = 0;
  while ((1 << log) < page_tokens) ++log;
  return log;
}

// A query at the end of a sequence of `len` tokens sees its last `window` ones, all with window 0.
KVSIM_FN inline int first_visible(int len, int window) {
  return window > 0 && len > window ? len - window : 0;
}

// The 16-byte chunk c of row r of a tile in shared memory is stored at chunk position swizzled(r,
// c), so that 8 rows of one chunk column (what ldmatrix reads) lie in different banks without
// padding. For rows of at least 8 chunks (128 bytes).
KVSIM_FN inline int swizzled(int row, int chunk) { return chunk ^ (row & 7); }

}  // namespace kvsim::kernels
