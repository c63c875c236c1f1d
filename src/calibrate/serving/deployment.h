#pragma once
#include <map>
#include <memory>
#include <string>

#include "calibrate/measurements/measurement.h"
#include "calibrate/serving/closed_loop.h"
#include "cost/step/fitted_step.h"
#include "spec/catalog.h"

namespace kvsim::calibrate {

// A published run as kvsim deploys it: the model in its precision, the layout, step times and room.
struct Deployment {
  spec::ModelSpec model;
  spec::ParallelPlan plan;
  std::unique_ptr<cost::CostModel> cost;  // without host time
  double gpus = 1;
  double kv_pool = 0;  // bytes on one GPU
  double kv_token = 0, kv_sequence = 0;
  std::string unrepresentable;
};

// `library` null: the datasheet's roofline. A run with tp 0 gets the smallest engine that holds a
// few requests.
Deployment deploy(const Serving& run, const std::string& framework, const spec::GpuSpec& gpu,
                  const spec::Catalog& catalog, const cost::CostLibrary* library);

EngineHabits habits_of(const Serving& run, const std::string& framework,
                       const std::string& version);

// The working point of a run on a deployment; in_flight 0 = as many as fit (offline).
struct Placed {
  WorkingPoint point;
  double ranks = 1;  // attention ranks, each at this point
  std::string unrepresentable;
};
Placed place(const Serving& run, const Deployment& d, const EngineHabits& habits);

}  // namespace kvsim::calibrate
