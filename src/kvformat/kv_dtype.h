#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/model_spec.h"

namespace kvsim::kvformat {

// A KV cache element format. Sizes include scales and zero points (reference: OCP MX, NVFP4, KIVI,
// llama.cpp block formats); group_size elements share scale_bits.
struct KvDtype {
  std::string_view name;    // bfloat16, fp8_e4m3, int4, q8_0, ...
  double bits = 16;         // per element, payload only
  int group_size = 0;       // elements per scale; 0 = one scale per tensor (costs nothing visible)
  double scale_bits = 0;    // scale (and zero point) bits per group
  int residual_tokens = 0;  // newest tokens of a sequence that stay in 16 bits (KIVI)
  std::string_view summary;
  double bits_per_element() const {
    return bits + (group_size > 0 ? scale_bits / group_size : 0.0);
  }
  bool is_fp8() const { return name.substr(0, 3) == "fp8"; }
};

// All formats, in the order of the documentation.
std::span<const KvDtype> kv_dtypes();
// By name or alias (bf16, f16, f32, fp8 = fp8_e4m3). "auto" is not a format: see
// resolve_kv_dtype().
const KvDtype* find_kv_dtype(std::string_view name);
std::vector<std::string> kv_dtype_names();  // with "auto" first and the aliases, for messages

// The format that `name` means for a model: "auto" is what the checkpoint states, else the model's
// own dtype. Unknown names: InputError with the nearest one.
const KvDtype& resolve_kv_dtype(std::string_view name, const spec::ModelSpec& model);

}  // namespace kvsim::kvformat
