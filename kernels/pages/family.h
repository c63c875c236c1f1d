#pragma once
#include "kernels/host/problem.h"

namespace kvsim::kernels {

enum class PageMove { gather, scatter };
// Kernels "page_gather" and "page_scatter": `pages` of `page_bytes` (a multiple of 16) between a
// pool twice that size and pinned host memory.
std::unique_ptr<Problem> make_page_move(PageMove move, std::int64_t pages, int page_bytes);

// Kernel "kv_append". A decode step has one token in each of `tokens` sequences, a prefill a run of
// tokens of one sequence; every seventh token is padding if so asked.
enum class AppendStep { decode, prefill };
enum class Padding { none, some };
struct AppendShape {
  AppendStep step = AppendStep::decode;
  int tokens = 1, kv_heads = 8, head_dim = 128, page_tokens = 16;
  Padding padding = Padding::none;
};
std::unique_ptr<Problem> make_append(const AppendShape& shape);

// Kernel "prefetch_pages": a step that computes for `rounds`, then reads `pages` of keys and of
// values; versions differ in whether the computing kernel asks for the pages.
std::unique_ptr<Problem> make_prefetch(int pages, int page_bytes, int rounds, unsigned blocks);

Problems pages_edge_cases();
Problems pages_quick_cases();
Problems pages_bench_cases();

}  // namespace kvsim::kernels
