#pragma once
#include <memory>

#include "kernels/host/problem.h"
#include "kernels/quantized/layout.h"

namespace kvsim::kernels {

// Every page gets tokens first..first+count-1 of its own bf16 page (-1: all of them); pages change
// places on the way.
struct QuantiseShape {
  KvFormat format = KvFormat::fp8;
  int pages = 1, kv_heads = 1, page = 16;
  int first = 0, count = -1;
  float amplitude = 1, offset = 0;
};
std::unique_ptr<Problem> quantise_problem(const QuantiseShape& shape);

}  // namespace kvsim::kernels
