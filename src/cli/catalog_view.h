#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kvformat/kv_dtype.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"

// What `model` and `gpu` commands show, as documents with field lists of their own.
namespace kvsim::cli {

// One model in a list.
struct ModelRow {
  std::string id, family, attention;
  double total_params_b = 0, active_params_b = 0;
  std::int64_t num_layers = 0, max_position_embeddings = 0;
  std::int64_t kv_bytes_per_token = 0, kv_bytes_per_sequence = 0;  // whole model, bfloat16
};
struct ModelList {
  std::vector<ModelRow> models;
};

// KV of one layer group of the whole model.
struct GroupRow {
  std::string name, attention;
  std::int64_t layers = 0, num_heads = 0, num_kv_heads = 0, head_dim = 0, window = 0;
  std::int64_t bytes_per_token = 0, bytes_per_sequence = 0;
};
struct ModelView {
  spec::ModelSpec model;
  std::int64_t counted_params = 0, counted_active_params = 0;
  std::string kv_cache_dtype;
  std::int64_t kv_bytes_per_token = 0, kv_bytes_per_sequence = 0, kv_bytes_per_sequence_extra = 0;
  std::vector<GroupRow> groups;
};

struct FieldChange {
  std::string field, a, b;  // values as JSON text; "" = absent
};
struct ModelDiff {
  std::string a, b;
  std::vector<FieldChange> differences;
};

struct GpuRow {
  std::string id, vendor, architecture, link, verified;
  Bytes memory, usable_memory;
  Bandwidth memory_bandwidth, link_bandwidth;
  double bf16_tflops = 0, fp8_tflops = 0, tdp_w = 0;
};
struct GpuList {
  std::vector<GpuRow> gpus;
};

// "10 full + 52 sliding_window 1024", in the order of layer_groups.
std::string attention_summary(const spec::ModelSpec& model);

ModelRow model_row(const spec::ModelSpec& model);
ModelView model_view(const spec::ModelSpec& model, const kvformat::KvDtype& dtype);
ModelDiff model_diff(const spec::ModelSpec& a, const spec::ModelSpec& b);
GpuRow gpu_row(const spec::GpuSpec& gpu);

void fields(config::FieldVisitor& v, ModelRow& r);
void fields(config::FieldVisitor& v, ModelList& l);
void fields(config::FieldVisitor& v, GroupRow& r);
void fields(config::FieldVisitor& v, ModelView& m);
void fields(config::FieldVisitor& v, FieldChange& c);
void fields(config::FieldVisitor& v, ModelDiff& d);
void fields(config::FieldVisitor& v, GpuRow& r);
void fields(config::FieldVisitor& v, GpuList& l);

}  // namespace kvsim::cli
