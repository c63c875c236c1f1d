#include "kernels/cascade/family.h"

namespace kvsim::kernels {
namespace {

Problems problems(const std::vector<CascadeShape>& shapes) {
  Problems out;
  for (const CascadeShape& shape : shapes) out.push_back(make_cascade_problem(shape));
  return out;
}

std::vector<int> same(int sequences, int tokens) {
  return std::vector<int>(static_cast<std::size_t>(sequences), tokens);
}

}  // namespace

Problems cascade_edge_cases() {
  std::vector<CascadeShape> out;
  const auto add = [&](CascadeShape shape, const char* lens) {
    shape.lens = lens;
    out.push_back(std::move(shape));
  };
  // Suffixes around pages and steps after prefixes around steps; empty splits in most.
  const std::vector<int> around{0, 1, 15, 16, 17, 63, 64, 65, 129};
  for (const int prefix : {0, 16, 48, 64, 80})
    add({.suffixes = around, .prefix = prefix, .group = 3, .prefix_splits = 2, .suffix_splits = 2},
        "around-16");
  for (const int prefix : {1, 15, 17, 63, 65})
    add({.suffixes = {0, 1, 20},
         .prefix = prefix,
         .kv_heads = 2,
         .page_tokens = 1,
         .prefix_splits = 2,
         .suffix_splits = 1},
        "ragged");
  for (const int page : {64, 128})
    add({.suffixes = {0, 1, page - 1, page, page + 1},
         .prefix = 128,
         .group = 2,
         .page_tokens = page,
         .prefix_splits = 1,
         .suffix_splits = 2},
        "around-page");
  add({.suffixes = {70, 1, 0}, .page_tokens = 0, .suffix_splits = 1}, "contiguous");
  add({.suffixes = same(3, 0), .prefix = 96, .prefix_splits = 2, .suffix_splits = 1}, "no-suffix");
  add({.suffixes = {}, .prefix = 32}, "no-sequences");
  // Rows of the prefix: one tile, four, and the first of a second block.
  for (const int sequences : {1, 16, 17})
    add({.suffixes = same(sequences, 20), .prefix = 96, .prefix_splits = 2, .suffix_splits = 1},
        "uniform");
  for (const int group : {1, 7, 8, 16})
    add({.suffixes = {33, 5}, .prefix = 80, .group = group, .prefix_splits = 2, .suffix_splits = 2},
        "ragged");
  add({.suffixes = {33, 5, 70},
       .prefix = 80,
       .kv_heads = 2,
       .head_dim = 64,
       .prefix_splits = 2,
       .suffix_splits = 2},
      "ragged");
  add({.suffixes = {500, 3, 0, 20}, .prefix = 32, .prefix_splits = 5, .suffix_splits = 4},
      "one-long");
  add({.suffixes = {33, 5}, .prefix = 80, .prefix_splits = 2, .suffix_splits = 2, .key_scale = 0},
      "equal-scores");
  add({.suffixes = {33, 5},
       .prefix = 80,
       .prefix_splits = 2,
       .suffix_splits = 2,
       .key_scale = 1e3F},
      "keys-large");
  add({.suffixes = {33, 5}, .prefix = 80, .prefix_splits = 2, .suffix_splits = 2, .scale = 1e-4F},
      "scale-tiny");
  return problems(out);
}

// Four steps of 64 tokens in each split of the prefix, and in the longest suffix, so that a ring of
// three stages is filled again.
Problems cascade_quick_cases() {
  return problems({{.suffixes = {20, 0, 200, 1, 5},
                    .prefix = 512,
                    .prefix_splits = 2,
                    .suffix_splits = 1,
                    .lens = "quick"}});
}

Problems cascade_bench_cases() {
  const auto shape = [](int sequences, int prefix, int suffix, int group) {
    return CascadeShape{
        .suffixes = same(sequences, suffix), .prefix = prefix, .kv_heads = 8, .group = group};
  };
  return problems({shape(64, 8192, 512, 4), shape(16, 32768, 512, 4), shape(64, 8192, 512, 8),
                   shape(256, 2048, 512, 4), shape(8, 8192, 512, 4)});
}

}  // namespace kvsim::kernels
