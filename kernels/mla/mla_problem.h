#pragma once
#include <memory>
#include <vector>

#include "kernels/host/problem.h"
#include "kernels/mla/paging.h"

namespace kvsim::kernels {

// A case of absorbed decode.
struct MlaShape {
  std::vector<std::int32_t> lens;
  int heads = 16, queries = 1, page_tokens = 64;
  // Blocks that the plan aims at and the least tiles for one; 0 blocks: one per SM of the device.
  int blocks = 0, min_tiles = 8;
  Pages pages = Pages::shuffled;
  float q_scale = 1, scale = 0.0722F;  // 1 / sqrt(192)
};
std::unique_ptr<Problem> make_mla_problem(const MlaShape& shape);

// A case of the form before absorption.
struct MlaNaiveShape {
  std::vector<std::int32_t> lens;
  int heads = 2, page_tokens = 16;
};
std::unique_ptr<Problem> make_mla_naive_problem(const MlaNaiveShape& shape);

}  // namespace kvsim::kernels
