#pragma once
#include <string>

#include "calibrate/measurements/measurement.h"
#include "cost/operators/shapes.h"

namespace kvsim::calibrate {

// What a kernel row asks of the operators' forms, or why there is no form for it. Not for Serving.
struct OperatorShape {
  cost::Shape shape;
  std::string unrepresentable;
};
OperatorShape shape_of(const Measurement& m);

}  // namespace kvsim::calibrate
