#pragma once
#include <string>
#include <vector>

#include "spec/model_spec.h"

// Model files as people write them, and models compared field by field.
namespace kvsim::spec {

// A kvsim.model/1 file: required fields and those that differ from their default, layer groups one
// per line. Reading it back gives an equal model.
std::string model_file_text(const ModelSpec& model);

// One field of a model: dotted path ("layer_groups.0.num_kv_heads") and its value as JSON.
struct ModelField {
  std::string path, value;
};
// Every field that is present, in file order.
std::vector<ModelField> model_fields(const ModelSpec& model);

}  // namespace kvsim::spec
