#pragma once
#include "cost/operators/shapes.h"

namespace kvsim::cost {

// What one call moves and computes at least: bytes through memory, or over links, and flops.
struct Work {
  double bytes = 0, flops = 0, link_bytes = 0;
};
Work work_of(const Shape& shape);

}  // namespace kvsim::cost
