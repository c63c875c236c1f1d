#include "spec/dtype.h"

namespace kvsim::spec {

std::optional<DType> parse_dtype(std::string_view text) {
  if (text.starts_with("torch.")) text.remove_prefix(6);
  for (std::size_t i = 0; i < dtype_names.size(); ++i)
    if (dtype_names[i] == text) return static_cast<DType>(i);
  if (text == "f32" || text == "fp32" || text == "float") return DType::float32;
  if (text == "bf16") return DType::bfloat16;
  if (text == "f16" || text == "fp16" || text == "half") return DType::float16;
  if (text == "float8_e4m3fn" || text == "fp8_e4m3" || text == "float8_e5m2" || text == "fp8_e5m2")
    return DType::fp8;
  return std::nullopt;
}

}  // namespace kvsim::spec
