#include "cli/catalog_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kvformat/footprint.h"
#include "spec/model_text.h"
#include "spec/parameters.h"

namespace kvsim::cli {
namespace {

std::int64_t whole(double bytes) { return std::llround(bytes); }

std::string kind_of(const spec::LayerGroup& group) {
  constexpr std::array<std::string_view, 6> words{"none",  "full", "window",
                                                  "chunk", "mla",  "recurrent"};
  static_assert(words.size() == spec::attention_names.size());
  std::string text(words[static_cast<std::size_t>(group.attention)]);
  if (group.recurrent)
    text = spec::recurrent_names[static_cast<std::size_t>(group.recurrent->kind)];
  if (group.window > 0) text += fmt::format(" {}", group.window);
  if (group.compression) text += fmt::format(" 1 per {}", group.compression->ratio);
  if (group.indexer) text += fmt::format(" top {}", group.indexer->top_k);
  if (!group.owns_kv) text += " shared";
  return text;
}

// Fields that say who a model is rather than what.
bool is_label(const std::string& path) {
  return path == "id" || path == "aliases" || path == "sources" || path == "notes" ||
         path == "architecture" || path == "family";
}

}  // namespace

std::string attention_summary(const spec::ModelSpec& model) {
  std::string out;
  for (std::size_t i = 0; i < model.layer_groups.size(); ++i)
    if (model.layer_groups[i].attention != spec::AttentionKind::none)
      out += fmt::format("{}{} {}", out.empty() ? "" : " + ", model.layers_in(i),
                         kind_of(model.layer_groups[i]));
  return out;
}

ModelRow model_row(const spec::ModelSpec& model) {
  const kvformat::Footprint kv = kvformat::footprint(model, *kvformat::find_kv_dtype("bfloat16"));
  ModelRow row;
  row.id = model.id, row.family = model.family, row.attention = attention_summary(model);
  row.total_params_b = model.total_params_b, row.active_params_b = model.active_params_b;
  row.num_layers = model.num_layers, row.max_position_embeddings = model.max_position_embeddings;
  row.kv_bytes_per_token = whole(kv.bytes_per_token),
  row.kv_bytes_per_sequence = whole(kv.bytes_per_sequence);
  return row;
}

ModelView model_view(const spec::ModelSpec& model, const kvformat::KvDtype& dtype) {
  const kvformat::Footprint kv = kvformat::footprint(model, dtype);
  const spec::ModelParameters parameters = spec::count_parameters(model);
  ModelView view;
  view.model = model, view.kv_cache_dtype = dtype.name;
  view.counted_params = parameters.total(), view.counted_active_params = parameters.active;
  view.kv_bytes_per_token = whole(kv.bytes_per_token),
  view.kv_bytes_per_sequence = whole(kv.bytes_per_sequence);
  view.kv_bytes_per_sequence_extra = whole(kv.bytes_per_sequence_extra);
  for (std::size_t i = 0; i < model.layer_groups.size(); ++i) {
    const spec::LayerGroup& g = model.layer_groups[i];
    GroupRow row;
    row.name = g.name, row.attention = kind_of(g), row.layers = model.layers_in(i);
    row.num_heads = g.num_heads, row.num_kv_heads = g.num_kv_heads, row.head_dim = g.head_dim,
    row.window = g.window;
    const auto part =
        std::ranges::find(kv.groups, static_cast<int>(i), &kvformat::GroupFootprint::group);
    if (part != kv.groups.end()) {
      if (part->window == 0) row.bytes_per_token = whole(part->bytes_per_token());
      row.bytes_per_sequence =
          whole(part->bytes_per_sequence_layer * static_cast<double>(part->layers));
    }
    view.groups.push_back(row);
  }
  return view;
}

ModelDiff model_diff(const spec::ModelSpec& a, const spec::ModelSpec& b) {
  ModelDiff diff{a.id, b.id, {}};
  std::vector<spec::ModelField> left = spec::model_fields(a), right = spec::model_fields(b);
  const ModelView va = model_view(a, *kvformat::find_kv_dtype("bfloat16")),
                  vb = model_view(b, *kvformat::find_kv_dtype("bfloat16"));
  const auto derive = [](std::vector<spec::ModelField>& list, const ModelView& v) {
    list.push_back({"kv_bytes_per_token", fmt::format("{}", v.kv_bytes_per_token)});
    list.push_back({"kv_bytes_per_sequence", fmt::format("{}", v.kv_bytes_per_sequence)});
    list.push_back({"counted_params", fmt::format("{}", v.counted_params)});
    list.push_back({"counted_active_params", fmt::format("{}", v.counted_active_params)});
  };
  derive(left, va), derive(right, vb);
  for (const spec::ModelField& f : left) {
    if (is_label(f.path)) continue;
    const auto other = std::ranges::find(right, f.path, &spec::ModelField::path);
    if (other == right.end())
      diff.differences.push_back({f.path, f.value, ""});
    else if (other->value != f.value)
      diff.differences.push_back({f.path, f.value, other->value});
  }
  for (const spec::ModelField& f : right)
    if (!is_label(f.path) && std::ranges::find(left, f.path, &spec::ModelField::path) == left.end())
      diff.differences.push_back({f.path, "", f.value});
  return diff;
}

GpuRow gpu_row(const spec::GpuSpec& gpu) {
  GpuRow row;
  row.id = gpu.id, row.vendor = gpu.vendor, row.architecture = gpu.architecture,
  row.link = gpu.link, row.verified = gpu.verified;
  row.memory = gpu.memory, row.usable_memory = gpu.usable_memory();
  row.memory_bandwidth = gpu.memory_bandwidth, row.link_bandwidth = gpu.link_bandwidth;
  row.bf16_tflops = gpu.bf16_tflops, row.fp8_tflops = gpu.fp8_tflops, row.tdp_w = gpu.tdp_w;
  return row;
}

void fields(config::FieldVisitor& v, ModelRow& r) {
  v.field({"id", "catalog id"}, r.id);
  v.field({"family", "Hugging Face model_type"}, r.family);
  v.field({"total_params_b", "published parameters, 10^9; 0 = unknown"}, r.total_params_b);
  v.field({"active_params_b", "published active parameters, 10^9; 0 = unknown"}, r.active_params_b);
  v.field({"num_layers", "decoder layers"}, r.num_layers);
  v.field({"attention", "layers by kind"}, r.attention);
  v.field({"kv_bytes_per_token", "growing part of the whole model, bfloat16"},
          r.kv_bytes_per_token);
  v.field({"kv_bytes_per_sequence", "full windows and recurrent states, bfloat16"},
          r.kv_bytes_per_sequence);
  v.field({"max_position_embeddings", "longest context stated"}, r.max_position_embeddings);
}

void fields(config::FieldVisitor& v, ModelList& l) {
  v.list({"models", "models in alphabetical order"}, l.models);
}

void fields(config::FieldVisitor& v, GroupRow& r) {
  v.field({"name", "layer group"}, r.name);
  v.field({"attention", "kind, window or ratio"}, r.attention);
  v.field({"layers", "layers of the group"}, r.layers);
  v.field({"num_heads", "query heads"}, r.num_heads);
  v.field({"num_kv_heads", "key and value heads"}, r.num_kv_heads);
  v.field({"head_dim", "width of a key head"}, r.head_dim);
  v.field({"window", "tokens; 0 = none"}, r.window);
  v.field({"bytes_per_token", "growing KV of all its layers"}, r.bytes_per_token);
  v.field({"bytes_per_sequence", "constant KV of all its layers"}, r.bytes_per_sequence);
}

void fields(config::FieldVisitor& v, ModelView& m) {
  v.object({"model", "the model file, every field"}, m.model);
  v.field({"counted_params", "parameters counted from the dimensions"}, m.counted_params);
  v.field({"counted_active_params", "of these, passed by one token"}, m.counted_active_params);
  v.field({"kv_cache_dtype", "format of the figures below"}, m.kv_cache_dtype);
  v.field({"kv_bytes_per_token", "growing part of the whole model"}, m.kv_bytes_per_token);
  v.field({"kv_bytes_per_sequence", "full windows and recurrent states"}, m.kv_bytes_per_sequence);
  v.field({"kv_bytes_per_sequence_extra", "compressor states"}, m.kv_bytes_per_sequence_extra);
  v.list({"groups", "KV by layer group"}, m.groups);
}

void fields(config::FieldVisitor& v, FieldChange& c) {
  v.field({"field", "dotted path"}, c.field);
  v.field({"a", "value in the first, as JSON; empty = absent"}, c.a);
  v.field({"b", "value in the second"}, c.b);
}

void fields(config::FieldVisitor& v, ModelDiff& d) {
  v.field({"a", "first model"}, d.a);
  v.field({"b", "second model"}, d.b);
  v.list({"differences", "fields that differ"}, d.differences);
}

void fields(config::FieldVisitor& v, GpuRow& r) {
  v.field({"id", "catalog id"}, r.id);
  v.field({"vendor", "maker"}, r.vendor);
  v.field({"architecture", "generation"}, r.architecture);
  v.field({"memory", "nameplate, bytes"}, r.memory);
  v.field({"usable_memory", "as the driver reports it where known, bytes"}, r.usable_memory);
  v.field({"memory_bandwidth", "bytes per second"}, r.memory_bandwidth);
  v.field({"bf16_tflops", "dense"}, r.bf16_tflops);
  v.field({"fp8_tflops", "dense; 0 = no such path"}, r.fp8_tflops);
  v.field({"link", "GPU-to-GPU link"}, r.link);
  v.field({"link_bandwidth", "bytes per second, per direction"}, r.link_bandwidth);
  v.field({"tdp_w", "watt"}, r.tdp_w);
  v.field({"verified", "Y, P or N"}, r.verified);
}

void fields(config::FieldVisitor& v, GpuList& l) {
  v.list({"gpus", "GPUs in alphabetical order"}, l.gpus);
}

}  // namespace kvsim::cli
