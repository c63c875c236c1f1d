#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "calibrate/measurements/measurement.h"
#include "cost/cost_model.h"
#include "spec/catalog.h"

namespace kvsim::calibrate {

// Steady-state figures of a serving run, from the datasheet roofline of its model.
struct ServingEstimate {
  double ttft = 0, tpot = 0;         // seconds, means
  double tokens_per_second_gpu = 0;  // output tokens
  bool waits_for_kv = false;         // the KV pool does not hold the stated concurrency
  std::string unrepresentable;
};

// Predicts Serving rows; keeps the models and cost models it has built.
class ServingPredictor {
 public:
  explicit ServingPredictor(const spec::Catalog& catalog) : catalog_(catalog) {}
  ServingEstimate estimate(const Serving& run, const std::string& framework,
                           const spec::GpuSpec& gpu);

 private:
  struct Deployment {
    spec::ModelSpec model;
    std::unique_ptr<cost::CostModel> cost;
    double kv_pool = 0, kv_token = 0,
           kv_sequence = 0;  // bytes on one GPU: pool, per token, per sequence
    std::string unrepresentable;
  };
  const Deployment& deployment(const Serving& run, const spec::GpuSpec& gpu);

  const spec::Catalog& catalog_;
  std::map<std::string, Deployment> built_;
};

}  // namespace kvsim::calibrate
