#pragma once
#include <memory>

#include "kernels/attention/kv_cache.h"
#include "kernels/host/problem.h"

namespace kvsim::kernels {

struct CascadeShape {
  std::vector<int> suffixes;  // tokens that each sequence has for itself
  int prefix = 0;             // tokens in common, whole pages
  int kv_heads = 1, group = 4, head_dim = 128, page_tokens = 16;
  int prefix_splits = 0, suffix_splits = 0;  // 0: choose_splits
  float scale = 0;                           // 0: 1 / sqrt(head_dim)
  float key_scale = 1;
  std::string lens{};  // what the suffixes are called in the id; "": uniform
};
std::unique_ptr<Problem> make_cascade_problem(const CascadeShape& shape);

Problems cascade_edge_cases();
Problems cascade_quick_cases();
Problems cascade_bench_cases();

}  // namespace kvsim::kernels
