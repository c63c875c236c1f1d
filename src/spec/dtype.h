#pragma once
#include <array>
#include <optional>
#include <string_view>

namespace kvsim::spec {

// Element types of weights, activations and state (KV cache formats: kvformat/kv_dtype.h).
enum class DType { float32, bfloat16, float16, fp8, int8, int4, fp4 };

inline constexpr std::array<std::string_view, 7> dtype_names{
    "float32", "bfloat16", "float16", "fp8", "int8", "int4", "fp4"};
constexpr std::string_view name(DType t) { return dtype_names[static_cast<std::size_t>(t)]; }

// Bits of one element, without scales.
constexpr int bits(DType t) {
  switch (t) {
    case DType::float32:
      return 32;
    case DType::bfloat16:
    case DType::float16:
      return 16;
    case DType::fp8:
    case DType::int8:
      return 8;
    case DType::int4:
    case DType::fp4:
      return 4;
  }
  return 0;
}

// Accepts the names above, torch's ("torch.bfloat16") and the short ones (bf16, f16, f32, fp32).
std::optional<DType> parse_dtype(std::string_view text);

}  // namespace kvsim::spec
