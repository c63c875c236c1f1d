#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/measurements/measurement.h"
#include "calibrate/predict/gpus.h"
#include "spec/catalog.h"

namespace kvsim::calibrate {

// A figure's predicted value, or why there is none.
struct Prediction {
  double value = 0;
  std::string unrepresentable;
};

// Predicts every kind of kernel measurement from the data sheet, under the condition it was
// measured in.
class Predictor {
 public:
  explicit Predictor(const spec::Catalog& catalog) : gpus_(catalog) {}
  // One per figure, in their order.
  std::vector<Prediction> predict(const Measurement& m);
  Gpus& gpus() { return gpus_; }

 private:
  Gpus gpus_;
};

// The condition under which rows of a kernel were measured, as a sentence for reports.
std::string_view condition(std::string_view kernel, cost::Buffers buffers);

}  // namespace kvsim::calibrate
