#pragma once
#include <string>

#include "kernels/attention/kv_cache.h"
#include "kernels/decode/decode.h"
#include "kernels/host/problem.h"

namespace kvsim::kernels {

struct DecodeShape {
  KvShape kv;
  int group = 4;       // query heads per kv head
  float scale = 0;     // 0: 1 / sqrt(head_dim)
  int window = 0;      // 0: all tokens
  int splits = 0;      // 0: choose_splits
  int blocks = 0;      // of the plan; 0: as many as run at once
  std::string lens{};  // what the lengths are called in the id: uniform, skewed, ...
};

std::unique_ptr<Problem> make_decode_problem(const DecodeShape& shape);

}  // namespace kvsim::kernels
