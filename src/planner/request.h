#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cost/step/step_cost.h"
#include "memory/options.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"

namespace kvsim::planner {

// What is asked: one deployment of one model.
struct Request {
  spec::ModelSpec model;
  spec::GpuSpec gpu;
  std::optional<spec::LinkSpec> link;
  std::shared_ptr<const cost::CostBook> costs;  // null: step times from the datasheet
  memory::Options options;
  std::string kv_dtype = "auto";               // as asked
  std::optional<std::int64_t> context, batch;  // the point to time; max_model_len and 1 by default
};

// The request with its KV format resolved for the model. Throws InputError for an unknown format.
Request resolved(Request request);

// A setting by its flag's name with underscores: a number or a word.
struct Setting {
  std::string name;
  std::string word;  // "" = a number; "true" = a flag without a value
  double number = 0;
};

// Settings to try together: does the deployment fit with them, and what do they bring.
struct Advice {
  std::vector<Setting> set;
  bool fits = false;
  std::string gain;
};

}  // namespace kvsim::planner
