#include "kvformat/kv_dtype.h"

#include <array>
#include <utility>

#include "diag/diagnostic.h"
#include "diag/suggest.h"

namespace kvsim::kvformat {
namespace {

constexpr std::array table{
    KvDtype{"bfloat16", 16, 0, 0, 0, "two bytes, the exponent range of float32"},
    KvDtype{"float16", 16, 0, 0, 0, "two bytes"},
    KvDtype{"float32", 32, 0, 0, 0, "four bytes"},
    KvDtype{"fp8_e4m3", 8, 0, 0, 0, "one byte, 3 mantissa bits, one scale per tensor"},
    KvDtype{"fp8_e5m2", 8, 0, 0, 0, "one byte, 2 mantissa bits"},
    KvDtype{"fp8_ds_mla", 8, 0, 0, 0,
            "FlashMLA layout: latent in fp8 with a float32 scale per 128, rope part in 16 bits"},
    KvDtype{"int8", 8, 128, 16, 0, "one byte, symmetric, a 16-bit scale per 128"},
    KvDtype{"int4", 4, 128, 32, 0, "asymmetric, 16-bit scale and zero point per 128"},
    KvDtype{"int3", 3, 128, 32, 0, "asymmetric, 16-bit scale and zero point per 128"},
    KvDtype{"int2", 2, 128, 32, 0, "asymmetric, 16-bit scale and zero point per 128"},
    KvDtype{"nvfp4", 4, 16, 8, 0, "e2m1 with an e4m3 scale per 16"},
    KvDtype{"mxfp4", 4, 32, 8, 0, "e2m1 with an e8m0 scale per 32"},
    KvDtype{"kivi4", 4, 32, 32, 128, "KIVI: 4 bits, scale and zero per 32, newest 128 tokens wide"},
    KvDtype{"kivi2", 2, 32, 32, 128, "KIVI: 2 bits, scale and zero per 32, newest 128 tokens wide"},
    KvDtype{"q8_0", 8, 32, 16, 0, "llama.cpp: 34 bytes per 32"},
    KvDtype{"q5_1", 5, 32, 32, 0, "llama.cpp: 24 bytes per 32"},
    KvDtype{"q5_0", 5, 32, 16, 0, "llama.cpp: 22 bytes per 32"},
    KvDtype{"q4_1", 4, 32, 32, 0, "llama.cpp: 20 bytes per 32"},
    KvDtype{"q4_0", 4, 32, 16, 0, "llama.cpp: 18 bytes per 32"},
    KvDtype{"iq4_nl", 4, 32, 16, 0, "llama.cpp: 18 bytes per 32, non-linear levels"},
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> aliases{{
    {"bf16", "bfloat16"},
    {"f16", "float16"},
    {"fp16", "float16"},
    {"half", "float16"},
    {"f32", "float32"},
    {"fp8", "fp8_e4m3"},
}};

}  // namespace

std::span<const KvDtype> kv_dtypes() { return table; }

const KvDtype* find_kv_dtype(std::string_view name) {
  for (const auto& [alias, target] : aliases)
    if (name == alias) name = target;
  for (const KvDtype& t : table)
    if (t.name == name) return &t;
  return nullptr;
}

std::vector<std::string> kv_dtype_names() {
  std::vector<std::string> names{"auto"};
  for (const KvDtype& t : table) names.emplace_back(t.name);
  for (const auto& alias : aliases) names.emplace_back(alias.first);
  return names;
}

const KvDtype& resolve_kv_dtype(std::string_view name, const spec::ModelSpec& model) {
  if (name == "auto") {
    const std::string& stated = model.quantization.kv_cache_dtype;
    name = stated.empty() ? spec::name(model.dtype) : std::string_view(stated);
  }
  if (const KvDtype* found = find_kv_dtype(name)) return *found;
  throw InputError({.code = "kv-dtype-unknown",
                    .message = "unknown KV cache dtype \"" + std::string(name) + "\"",
                    .hint = suggestion(name, kv_dtype_names())});
}

}  // namespace kvsim::kvformat
