#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "diag/suggest.h"
#include "spec/hf/family.h"

// How a checkpoint's weights are stored: quantization_config of a config.json, and the
// hf_quant_config.json that NVIDIA ModelOpt writes beside it.
namespace kvsim::spec::hf {
namespace {

class QuantReader {
 public:
  QuantReader(config::Value object, std::int64_t layers, Diagnostics& diagnostics)
      : object_(object), layers_(layers), diagnostics_(diagnostics) {}

  config::Value find(std::string_view name) const {
    const config::Value v = object_.find(name);
    return v.exists() && !v.is_null() ? v : config::Value{};
  }
  std::string word(std::string_view name) {
    const config::Value v = find(name);
    if (!v.exists()) return {};
    if (!v.is_string()) wrong(v, name, "a string");
    return v.is_string() ? v.string() : "";
  }
  std::int64_t integer(config::Value v, std::string_view name, std::int64_t fallback,
                       std::int64_t low) {
    if (!v.exists() || v.is_null()) return fallback;
    if (v.kind() != config::Kind::integer || v.integer() < low || v.integer() > 1 << 20) {
      wrong(v, name, fmt::format("a whole number of at least {}", low));
      return fallback;
    }
    return v.integer();
  }
  std::int64_t need(std::string_view name) {
    if (const config::Value v = find(name); v.exists()) return integer(v, name, 1, 1);
    fail(object_, fmt::format("required field \"{}\" is missing", name), "missing-field");
    return 1;
  }
  bool flag(std::string_view name) const {
    const config::Value v = find(name);
    return v.exists() && v.kind() == config::Kind::boolean && v.boolean();
  }
  std::vector<std::string> list(std::initializer_list<std::string_view> names) const {
    std::vector<std::string> out;
    for (const std::string_view name : names)
      if (const config::Value v = find(name); v.exists() && v.is_array())
        for (std::size_t i = 0; i < v.size(); ++i)
          if (v.at(i).is_string()) out.push_back(v.at(i).string());
    return out;
  }
  void wrong(config::Value v, std::string_view name, std::string_view wanted) {
    fail(v, fmt::format("{}: expected {}, found {}", name, wanted, v.describe()), "wrong-type");
  }
  void fail(config::Value v, std::string message, std::string code = "hf-quantization",
            std::string hint = {}) {
    diagnostics_.add(v.diagnostic(std::move(code), std::move(message), std::move(hint)));
  }
  config::Value object() const { return object_; }
  std::int64_t layers() const { return layers_; }

 private:
  config::Value object_;
  std::int64_t layers_;
  Diagnostics& diagnostics_;
};

// The number after "layers." in a module name, -1 for a pattern that stands for all layers.
std::int64_t layer_of(const std::string& module) {
  const auto at = module.find("layers.");
  if (at == std::string::npos) return -1;
  std::size_t end = at + 7;
  std::int64_t layer = 0;
  while (end < module.size() && std::isdigit(static_cast<unsigned char>(module[end])))
    layer = layer * 10 + (module[end++] - '0');
  return end == at + 7 ? -1 : layer;
}

// Whether modules with one of these words keep their width in at least half of the layers.
bool left_wide(const std::vector<std::string>& modules,
               std::initializer_list<std::string_view> words, std::int64_t layers) {
  std::set<std::int64_t> seen;
  for (const std::string& module : modules)
    for (const std::string_view word : words)
      if (module.find(word) != std::string::npos) {
        const std::int64_t layer = layer_of(module);
        if (layer < 0) return true;
        seen.insert(layer);
      }
  return 2 * static_cast<std::int64_t>(seen.size()) >= layers;
}

// The modules a checkpoint leaves alone: attention, or all but the routed experts.
void exclusions(const std::vector<std::string>& modules, std::int64_t layers, Quantization& q) {
  q.attention_wide = left_wide(modules, {"self_attn", "linear_attn", ".attn"}, layers);
  q.experts_only = q.attention_wide && left_wide(modules, {"shared_expert"}, layers);
}

void nvfp4(Quantization& q, std::int64_t group) {
  q.method = "nvfp4", q.bits = 4, q.group_size = group, q.scale_bits = 8;
}

// A ModelOpt algorithm name; false when unknown.
bool modelopt_algorithm(const std::string& name, std::int64_t group, Quantization& q) {
  if (name == "FP8" || name == "FP8_PER_CHANNEL_PER_TOKEN")
    q.method = "fp8", q.bits = 8;
  else if (name == "FP8_PB_WO" || name == "FP8_BLOCK_SCALES")
    q.method = "fp8_block", q.bits = 8, q.group_size = 128 * 128, q.scale_bits = 32;
  else if (name == "NVFP4" || name == "NVFP4_AWQ")
    nvfp4(q, group);
  else if (name == "W4A16_AWQ" || name == "W4A8_AWQ")
    q.method = "awq", q.bits = 4, q.group_size = group, q.scale_bits = 16;
  else if (name == "W8A8_SQ_PER_CHANNEL" || name == "W8A16")
    q.method = "int8", q.bits = 8;
  else
    return false;
  return true;
}

void kv_cache(QuantReader& reader, Quantization& q) {
  const config::Value algorithm = reader.find("kv_cache_quant_algo"),
                      scheme = reader.find("kv_cache_scheme");
  const config::Value v = algorithm.exists() ? algorithm : scheme;
  if (!v.exists()) return;
  if (v.is_string()) {
    if (v.string() == "FP8")
      q.kv_cache_dtype = "fp8";
    else if (v.string() == "NVFP4")
      q.kv_cache_dtype = "nvfp4";
    else if (v.string() == "INT8")
      q.kv_cache_dtype = "int8";
    else
      reader.fail(v, fmt::format("unknown KV cache format {}", v.describe()), "hf-quantization",
                  "known are FP8, NVFP4 and INT8");
  } else if (v.is_object()) {
    const std::int64_t bits = reader.integer(v.find("num_bits"), "num_bits", 8, 1);
    const config::Value type = v.find("type");
    const bool integer = type.exists() && type.is_string() && type.string() == "int";
    if (bits == 8)
      q.kv_cache_dtype = integer ? "int8" : "fp8";
    else if (bits == 4 && !integer)
      q.kv_cache_dtype = "nvfp4";
    else
      reader.fail(v, fmt::format("a KV cache of {} bits is not known", bits));
  } else {
    reader.wrong(v, "kv_cache_scheme", "a string or an object");
  }
}

// One algorithm for the modules that quantized_layers lists (experts, in the checkpoints known).
void mixed_precision(QuantReader& reader, Quantization& q) {
  const config::Value layers = reader.find("quantized_layers");
  std::set<std::string> algorithms;
  bool experts = true;
  for (std::size_t i = 0; layers.exists() && i < layers.size(); ++i) {
    const config::Value algorithm =
        layers.at(i).is_object() ? layers.at(i).find("quant_algo") : config::Value{};
    algorithms.insert(algorithm.exists() && algorithm.is_string() ? algorithm.string() : "?");
    experts &= layers.key(i).find("experts") != std::string::npos &&
               layers.key(i).find("shared") == std::string::npos;
  }
  if (algorithms.size() != 1 ||
      !modelopt_algorithm(*algorithms.begin(),
                          reader.integer(reader.find("group_size"), "group_size", 16, 1), q))
    return reader.fail(
        reader.find("quant_algo"),
        "MIXED_PRECISION: only one known algorithm in all quantized_layers can be described");
  q.experts_only = experts;
}

void modelopt(QuantReader& reader, Quantization& q) {
  const std::string algorithm = reader.word("quant_algo");
  if (algorithm.empty())
    return reader.fail(reader.object(), "required field \"quant_algo\" is missing",
                       "missing-field");
  std::int64_t group = reader.integer(reader.find("group_size"), "group_size", 0, 1);
  if (const config::Value groups = reader.find("config_groups");
      group == 0 && groups.exists() && groups.is_object() && groups.size() > 0)
    if (const config::Value weights =
            groups.at(0).is_object() ? groups.at(0).find("weights") : config::Value{};
        weights.exists() && weights.is_object())
      group = reader.integer(weights.find("group_size"), "group_size", 0, 1);
  if (algorithm == "MIXED_PRECISION")
    mixed_precision(reader, q);
  else if (!modelopt_algorithm(algorithm, group > 0 ? group : 16, q))
    reader.fail(reader.find("quant_algo"),
                fmt::format("quant_algo: \"{}\" is not known", algorithm), "hf-quantization",
                "known are FP8, FP8_PB_WO, NVFP4, W4A16_AWQ, W4A8_AWQ, W8A8_SQ_PER_CHANNEL, "
                "MIXED_PRECISION");
  const auto excluded = reader.list({"exclude_modules", "ignore"});
  const bool experts = q.experts_only;
  exclusions(excluded, reader.layers(), q);
  q.experts_only |= experts;
}

void fp8(QuantReader& reader, Quantization& q) {
  q.method = "fp8", q.bits = 8;
  if (reader.find("quantized_layers").exists()) mixed_precision(reader, q);
  const config::Value block = reader.find("weight_block_size");
  if (!block.exists() || q.method != "fp8") return;
  if (!block.is_array() || block.size() != 2)
    return reader.wrong(block, "weight_block_size", "two whole numbers");
  q.method = "fp8_block", q.scale_bits = 32;
  q.group_size = reader.integer(block.at(0), "weight_block_size", 1, 1) *
                 reader.integer(block.at(1), "weight_block_size", 1, 1);
}

void integer_groups(QuantReader& reader, Quantization& q, std::string_view method) {
  q.method = method;
  q.bits = static_cast<double>(reader.find("bits").exists()    ? reader.need("bits")
                               : reader.find("w_bit").exists() ? reader.need("w_bit")
                                                               : reader.need("bits"));
  const config::Value group =
      reader.find("group_size").exists() ? reader.find("group_size") : reader.find("q_group_size");
  const std::int64_t size = reader.integer(group, "group_size", 128, -1);
  q.group_size = size > 0 ? size : 0;  // -1: one scale per column
  q.scale_bits = 16 + q.bits;          // a float16 scale and a packed zero point per group
  exclusions(reader.list({"modules_to_not_convert"}), reader.layers(), q);
}

void compressed_tensors(QuantReader& reader, Quantization& q) {
  const config::Value groups = reader.find("config_groups");
  if (!groups.exists() || !groups.is_object() || groups.size() == 0 || !groups.at(0).is_object() ||
      !groups.at(0).find("weights").exists() || !groups.at(0).find("weights").is_object())
    return reader.fail(reader.object(), "config_groups needs a group with \"weights\"",
                       "missing-field");
  const config::Value weights = groups.at(0).find("weights");
  const std::int64_t bits = reader.integer(weights.find("num_bits"), "num_bits", 8, 1);
  const std::int64_t group = reader.integer(weights.find("group_size"), "group_size", 0, 1);
  const config::Value type = weights.find("type");
  const bool is_float = type.exists() && type.is_string() && type.string() == "float";
  q.bits = static_cast<double>(bits), q.group_size = group;
  if (is_float && bits == 8) {
    q.method = "fp8";
    if (const config::Value block = weights.find("block_structure");
        block.exists() && block.is_array() && block.size() == 2)
      q.method = "fp8_block", q.scale_bits = 32,
      q.group_size = reader.integer(block.at(0), "block_structure", 128, 1) *
                     reader.integer(block.at(1), "block_structure", 128, 1);
  } else if (is_float && bits == 4) {
    nvfp4(q, group > 0 ? group : 16);
    if (q.group_size == 32) q.method = "mxfp4";
  } else if (!is_float && bits == 8 && group == 0) {
    q.method = "int8";
  } else {
    const config::Value symmetric = weights.find("symmetric");
    const bool zero_points =
        symmetric.exists() && symmetric.kind() == config::Kind::boolean && !symmetric.boolean();
    q.method = "compressed-tensors", q.scale_bits = 16 + (zero_points ? q.bits : 0);
  }
  exclusions(reader.list({"ignore"}), reader.layers(), q);
}

void bitsandbytes(QuantReader& reader, Quantization& q) {
  if (reader.flag("load_in_8bit"))
    q.method = "int8", q.bits = 8;
  else
    q.method = "bitsandbytes", q.bits = 4, q.group_size = 64,
    q.scale_bits = reader.flag("bnb_4bit_use_double_quant") ? 8 : 32;
}

constexpr std::string_view methods[] = {"fp8",      "awq",          "gptq",  "compressed-tensors",
                                        "modelopt", "modelopt_fp4", "mxfp4", "bitsandbytes"};

void read_method(QuantReader& reader, Quantization& q) {
  std::string method = reader.word("quant_method");
  if (method.empty() && reader.find("quant_algo").exists()) method = "modelopt";
  if (method == "fp8" || method == "fbgemm_fp8") return fp8(reader, q);
  if (method == "awq" || method == "gptq") return integer_groups(reader, q, method);
  if (method == "compressed-tensors") return compressed_tensors(reader, q);
  if (method == "modelopt" || method == "modelopt_fp4") return modelopt(reader, q);
  if (method == "bitsandbytes") return bitsandbytes(reader, q);
  if (method == "mxfp4") {
    q.method = "mxfp4", q.bits = 4, q.group_size = 32, q.scale_bits = 8;
    q.experts_only = true;  // only experts have this format
    return;
  }
  if (method.empty())
    return reader.fail(reader.object(), "required field \"quant_method\" is missing",
                       "missing-field");
  const std::vector<std::string> known(std::begin(methods), std::end(methods));
  reader.fail(reader.find("quant_method"), fmt::format("quant_method: \"{}\" is not known", method),
              "hf-quantization", suggestion(method, known));
}

}  // namespace

void import_quantization(View& view, const config::Document* quant, ModelSpec& model,
                         Diagnostics& diagnostics) {
  config::Value own = view.find("quantization_config");
  if (!own.exists()) own = view.find("compression_config");
  if (own.exists() && !own.is_object())
    return view.fail("quantization_config", "quantization_config: expected an object");
  if (own.exists()) {
    QuantReader reader(own, model.num_layers, diagnostics);
    read_method(reader, model.quantization);
    kv_cache(reader, model.quantization);
  }
  if (Quantization& q = model.quantization;
      q.method.starts_with("fp8") && view.word("expert_dtype", "") == "fp4") {
    q.method = "mxfp4", q.bits = 4, q.group_size = 32, q.scale_bits = 8, q.experts_only = true;
    q.other_bits = 8;
    view.assume("Experts are FP4, the other quantized matrices FP8.");
  }
  if (!quant) return;
  const config::Value root = quant->root();
  if (!root.is_object())
    return diagnostics.add(root.diagnostic(
        "wrong-type", fmt::format("expected an object, found {}", root.describe())));
  const config::Value inner = root.find("quantization");
  QuantReader reader(inner.exists() && inner.is_object() ? inner : root, model.num_layers,
                     diagnostics);
  model.quantization = Quantization{};
  modelopt(reader, model.quantization);
  kv_cache(reader, model.quantization);
}

}  // namespace kvsim::spec::hf
