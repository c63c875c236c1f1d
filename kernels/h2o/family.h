#pragma once
#include <memory>
#include <vector>

#include "kernels/host/problem.h"

namespace kvsim::kernels {

struct H2oShape {
  std::vector<int> lens;
  int kv_heads = 8, heads_per_group = 4, head_dim = 128, page_tokens = 16;
  int split_tokens = 0;   // a multiple of 64; 0: enough splits to fill a GPU
  int shared_tokens = 0;  // whole pages that all sequences begin with
  float key_scale = 1;    // 0: all scores equal
};
// Kernel "h2o_decode": one decode step with its account of probabilities.
std::unique_ptr<Problem> make_h2o_decode(const H2oShape& shape);

// Kernel "h2o_compact": of every (sequence, kv head) `heavy` rows by a random account and the last
// `recent` ones move to new pages.
struct CompactShape {
  std::vector<int> lens;
  int kv_heads = 8, head_dim = 128, page_tokens = 16, heavy = 0, recent = 0;
};
std::unique_ptr<Problem> make_compact(const CompactShape& shape);

Problems h2o_edge_cases();
Problems h2o_quick_cases();
Problems h2o_bench_cases();

}  // namespace kvsim::kernels
