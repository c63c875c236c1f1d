#pragma once
#include <memory>

#include "kernels/attention/kv_cache.h"
#include "kernels/host/problem.h"
#include "kernels/tree/draft_tree.h"

namespace kvsim::kernels {

struct TreeShape {
  KvShape kv;  // the prefixes
  int tokens = 16;
  int group = 4;  // query heads per kv head
  TreeKind tree = TreeKind::random;
  int splits = 0;      // 0: choose_splits
  float scale = 0;     // 0: 1 / sqrt(head_dim)
  std::string lens{};  // what the lengths are called in the id; "": uniform
};
std::unique_ptr<Problem> make_tree_problem(const TreeShape& shape);

Problems tree_edge_cases();
Problems tree_quick_cases();
Problems tree_bench_cases();

}  // namespace kvsim::kernels
