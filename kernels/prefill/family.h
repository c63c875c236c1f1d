#pragma once
#include <memory>

#include "kernels/attention/kv_cache.h"
#include "kernels/host/problem.h"
#include "kernels/prefill/prefill.h"

namespace kvsim::kernels {

struct PrefillShape {
  std::vector<int> q_lens;  // per sequence; kv.lens are the caches' lengths
  KvShape kv;
  int group = 1;  // query heads per K/V head
  Mask mask = Mask::causal;
};

std::unique_ptr<Problem> make_prefill(PrefillShape shape);

Problems prefill_edge_cases();
Problems prefill_quick_cases();
Problems prefill_bench_cases();

}  // namespace kvsim::kernels
