#pragma once
#include <optional>

#include "cost/operators/shapes.h"

namespace kvsim::calibrate {

// The shape with one of its amounts of work (tokens, rows, bytes, batch, keys) times `factor`;
// nothing where the shape has no such field. Field 0 is what a step's batch grows, 1 the keys.
std::optional<cost::Shape> grown(const cost::Shape& shape, int field, double factor);
inline constexpr int work_fields = 2;

}  // namespace kvsim::calibrate
