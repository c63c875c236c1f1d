#pragma once
#include <memory>

#include "kernels/host/problem.h"
#include "kernels/quantized/pages.h"

namespace kvsim::kernels {

struct DecodeQuantisedShape {
  QuantisedShape kv;
  int group = 4;   // query heads per kv head, at most 16
  int splits = 0;  // parts of the pools' tokens; 0: planned_splits
};
std::unique_ptr<Problem> decode_quantised_problem(const DecodeQuantisedShape& shape);

// Parts per (sequence, kv head): the fewest whose blocks fill the GPU's `places` about as evenly as
// any number does, each part 512 tokens at least: below that its partial results are no longer
// small next to its codes.
int planned_splits(int groups, int max_len, int places);

}  // namespace kvsim::kernels
