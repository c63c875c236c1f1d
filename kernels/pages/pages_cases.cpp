#include "kernels/pages/family.h"

namespace kvsim::kernels {
namespace {

void add_moves(Problems& out, std::int64_t pages, int page_bytes) {
  for (const PageMove move : {PageMove::gather, PageMove::scatter})
    out.push_back(make_page_move(move, pages, page_bytes));
}

}  // namespace

Problems pages_edge_cases() {
  Problems out;
  // Around the 4 KB that a warp moves at a time.
  for (const int page_bytes : {16, 512, 4080, 4096, 4112, 16384, 65536})
    for (const std::int64_t pages : {0, 1, 9}) add_moves(out, pages, page_bytes);
  for (const AppendStep step : {AppendStep::decode, AppendStep::prefill})
    for (const int page_tokens : {1, 16, 64})
      for (const int tokens : {0, 1, page_tokens - 1, page_tokens, page_tokens + 1, 67}) {
        out.push_back(make_append({step, tokens, 3, 64, page_tokens, Padding::none}));
        out.push_back(make_append({step, tokens, 8, 128, page_tokens, Padding::some}));
      }
  out.push_back(make_append({AppendStep::prefill, 9, 1, 8, 16, Padding::some}));
  for (const int page_bytes : {16, 112, 4096, 4112})
    for (const int pages : {0, 1, 5}) out.push_back(make_prefetch(pages, page_bytes, 17, 2));
  return out;
}

Problems pages_quick_cases() {
  Problems out;
  add_moves(out, 3, 8192 + 16);
  out.push_back(make_append({AppendStep::decode, 9, 2, 64, 16, Padding::some}));
  out.push_back(make_append({AppendStep::prefill, 40, 2, 64, 16, Padding::none}));
  out.push_back(make_prefetch(3, 4096, 10, 2));
  return out;
}

// 256 MB over the link for three page sizes; a decode step's rows and a prefill's; 32 MB of pages
// behind a kernel that computes for some microseconds.
Problems pages_bench_cases() {
  Problems out;
  for (const int page_bytes : {65536, 4096, 16384})
    add_moves(out, (256 << 20) / page_bytes, page_bytes);
  out.push_back(make_append({AppendStep::prefill, 8192, 8, 128, 16, Padding::none}));
  out.push_back(make_append({AppendStep::decode, 64, 8, 128, 16, Padding::none}));
  for (const int rounds : {2000, 20000}) out.push_back(make_prefetch(512, 32768, rounds, 1056));
  return out;
}

}  // namespace kvsim::kernels
