#pragma once
#include "planner/plan.h"
#include "spec/catalog.h"

namespace kvsim::planner {

inline const spec::Catalog& catalog() {
  static const spec::Catalog all;
  return all;
}

inline Request request(const char* model, const char* gpu, int tp = 1) {
  Request r;
  r.model = catalog().model(model);
  r.gpu = catalog().gpu(gpu);
  r.options.plan.tensor_parallel_size = tp;
  return resolved(std::move(r));
}

}  // namespace kvsim::planner
