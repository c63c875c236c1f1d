#include "kernels/mla/family.h"
#include "kernels/mla/mla_problem.h"

namespace kvsim::kernels {

Problems mla_edge_cases() {
  const MlaShape shapes[] = {
      {.lens = {0, 1, 31, 32, 33}, .page_tokens = 1, .blocks = 3, .min_tiles = 1},
      {.lens = {15, 16, 17, 0, 95, 96, 97}, .page_tokens = 16, .blocks = 4, .min_tiles = 1},
      // One long and many short; the runs' borders lie inside the long one.
      {.lens = {1, 300, 2, 0, 3}, .page_tokens = 64, .blocks = 7, .min_tiles = 1},
      // More blocks than tiles.
      {.lens = {63, 64, 65}, .heads = 32, .page_tokens = 64, .blocks = 40, .min_tiles = 1},
      {.lens = {129, 0, 40}, .heads = 64, .page_tokens = 16, .blocks = 2, .min_tiles = 1},
      {.lens = {1, 100}, .heads = 128, .page_tokens = 64, .blocks = 4, .min_tiles = 1},
      // Parts of more tiles than the ring has stages.
      {.lens = {300, 163}, .page_tokens = 16, .blocks = 1},
      {.lens = {257}, .heads = 64, .page_tokens = 64, .blocks = 1},
      // More partial results than a block of the merge has warps, and than a warp has lanes.
      {.lens = {1090}, .heads = 4, .page_tokens = 64, .blocks = 40, .min_tiles = 1},
      // Rows that fill no block.
      {.lens = {40}, .heads = 5, .page_tokens = 16, .blocks = 2, .min_tiles = 1},
      {.lens = {70}, .heads = 40, .page_tokens = 16, .blocks = 2, .min_tiles = 1},
      // Query tokens of one step: the first sees one token less, and nothing where there is one.
      {.lens = {1, 33, 64}, .queries = 2, .page_tokens = 16, .blocks = 3, .min_tiles = 1},
      {.lens = {65}, .heads = 16, .queries = 4, .page_tokens = 1, .blocks = 3, .min_tiles = 1},
      // Shared first page; equal scores; scores of hundreds; scores near zero.
      {.lens = {20, 70, 16, 5},
       .page_tokens = 16,
       .blocks = 3,
       .min_tiles = 1,
       .pages = Pages::shared_prefix},
      {.lens = {77}, .page_tokens = 16, .blocks = 2, .min_tiles = 1, .q_scale = 0},
      {.lens = {77, 64}, .page_tokens = 16, .blocks = 3, .min_tiles = 1, .scale = 4},
      {.lens = {77}, .page_tokens = 16, .blocks = 2, .min_tiles = 1, .scale = 1e-6F},
  };
  Problems out;
  for (const MlaShape& shape : shapes) out.push_back(make_mla_problem(shape));
  out.push_back(make_mla_naive_problem({.lens = {0, 1, 17}, .heads = 2}));
  return out;
}

// Parts of six tiles and more, so that a ring of five stages is filled again.
Problems mla_quick_cases() {
  Problems out;
  out.push_back(
      make_mla_problem({.lens = {40, 400, 33}, .page_tokens = 16, .blocks = 2, .min_tiles = 1}));
  out.push_back(make_mla_problem(
      {.lens = {64, 200}, .heads = 40, .page_tokens = 64, .blocks = 1, .min_tiles = 1}));
  out.push_back(make_mla_naive_problem({.lens = {3}, .heads = 1}));
  return out;
}

// A set is at most 2.5 GB.
Problems mla_bench_cases() {
  Problems out;
  const auto add = [&](int heads, int batch, std::int32_t len, int queries = 1, int page = 64) {
    out.push_back(
        make_mla_problem({.lens = std::vector<std::int32_t>(static_cast<std::size_t>(batch), len),
                          .heads = heads,
                          .queries = queries,
                          .page_tokens = page}));
  };
  for (const int batch : {64, 16, 1})
    for (const std::int32_t len : {4096, 32768})
      for (const int heads : {16, 128, 64, 32}) add(heads, batch, len);
  add(16, 64, 4096, 2);
  add(16, 64, 4096, 1, 1);
  add(16, 64, 4096, 1, 16);
  out.push_back(make_mla_naive_problem({.lens = std::vector<std::int32_t>(16, 256), .heads = 16}));
  return out;
}

}  // namespace kvsim::kernels
