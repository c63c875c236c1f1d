#include <algorithm>

#include "kernels/tree/family.h"

namespace kvsim::kernels {
namespace {

Problems problems(const std::vector<TreeShape>& shapes) {
  Problems out;
  for (const TreeShape& shape : shapes) out.push_back(make_tree_problem(shape));
  return out;
}

KvShape ragged(std::vector<int> lens, int kv_heads = 1, int page_tokens = 16, int head_dim = 128) {
  return {.lens = std::move(lens),
          .kv_heads = kv_heads,
          .head_dim = head_dim,
          .page_tokens = page_tokens};
}

}  // namespace

Problems tree_edge_cases() {
  std::vector<TreeShape> out;
  const auto add = [&](TreeShape shape, const char* lens) {
    shape.lens = lens;
    out.push_back(std::move(shape));
  };
  using enum TreeKind;
  // Prefixes around pages and steps; empty splits in most.
  const std::vector<int> around{0, 1, 15, 16, 17, 63, 64, 65, 129};
  add({.kv = ragged(around), .tokens = 5, .group = 3, .splits = 3}, "around-16");
  add({.kv = ragged({0, 1, 63, 64, 65}, 2, 64), .tokens = 7, .splits = 2}, "around-64");
  add({.kv = ragged({127, 128, 129, 1}, 1, 128), .tokens = 4, .splits = 2}, "around-128");
  add({.kv = ragged({0, 1, 2, 17, 70}, 2, 1), .tokens = 6, .splits = 1}, "around-1");
  add({.kv = ragged({0, 1, 63, 65}, 2, 0), .tokens = 4, .splits = 2}, "contiguous");
  // Each tree at each size.
  for (const TreeKind tree : {chain, star, binary, random, blind})
    add({.kv = ragged({70, 0}), .tokens = 16, .group = 1, .tree = tree, .splits = 2}, "ragged");
  for (const int tokens : {1, 16, 63, 64})
    for (const TreeKind tree : {chain, star, binary})
      add({.kv = ragged({17}), .tokens = tokens, .group = 1, .tree = tree, .splits = 1}, "short");
  // Row tiles of 16, 32 and 64 rows and more than one block of rows.
  for (const int group : {1, 3, 7, 8, 16})
    add({.kv = ragged({70, 5}), .tokens = 5, .group = group, .splits = 2}, "ragged");
  add({.kv = ragged({70}), .tokens = 64, .group = 3, .splits = 2}, "ragged");
  add({.kv = ragged({70, 0}, 2, 16, 64), .tokens = 9, .group = 1, .splits = 2}, "ragged");
  add({.kv = ragged({70, 0}, 1, 1, 64), .tokens = 9, .group = 2, .splits = 2}, "ragged");
  add({.kv = ragged({70, 0}, 1, 0, 64), .tokens = 63, .group = 2, .splits = 1}, "ragged");
  add({.kv = ragged({100}), .tokens = 8, .splits = 9}, "splits-beyond-steps");
  add({.kv = ragged({777, 3, 0, 20}), .tokens = 2, .splits = 4}, "one-long");
  KvShape aliased = ragged({100, 90, 48, 20});
  aliased.shared_tokens = 48;
  add({.kv = aliased, .tokens = 4, .splits = 2}, "aliased");
  KvShape equal = ragged({100, 33});
  equal.key_scale = 0;
  add({.kv = equal, .tokens = 4, .splits = 2}, "equal-scores");
  KvShape extreme = ragged({100, 33});
  extreme.key_scale = 1e3F, extreme.value_scale = 1e-3F;
  add({.kv = extreme, .tokens = 4, .splits = 2}, "keys-large");
  add({.kv = ragged({100, 33}), .tokens = 4, .splits = 2, .scale = 1e-4F}, "scale-tiny");
  add({.kv = ragged({}), .tokens = 4}, "no-sequences");
  return problems(out);
}

// Four steps of 64 tokens and more in a split, so that a ring of three stages is filled again.
Problems tree_quick_cases() {
  return problems({{.kv = ragged({400, 20}), .tokens = 4, .group = 3, .splits = 2, .lens = "quick"},
                   {.kv = ragged({200}), .tokens = 24, .group = 2, .splits = 1, .lens = "quick"}});
}

Problems tree_bench_cases() {
  std::vector<TreeShape> out;
  const auto add = [&](int batch, int len, int tokens, int group) {
    out.push_back({.kv = ragged(std::vector<int>(static_cast<std::size_t>(batch), len), 8),
                   .tokens = tokens,
                   .group = group,
                   .tree = TreeKind::binary});
  };
  for (const int tokens : {16, 64}) add(8, 8192, tokens, 4);
  for (const int tokens : {16, 64})
    for (const int batch : {1, 8})
      for (const int len : {2048, 32768}) add(batch, len, tokens, 4);
  for (const int tokens : {8, 16}) add(8, 8192, tokens, 8);
  return problems(out);
}

}  // namespace kvsim::kernels
