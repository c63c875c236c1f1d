#include "cost/operators/format.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kvsim::cost {

std::optional<Format> find_format(std::string_view dtype) {
  using spec::DType;
  static constexpr std::array<std::pair<std::string_view, Format>, 17> formats{{
      {"bf16", {}},
      {"bfloat16", {}},
      {"fp16", {}},
      {"float16", {}},
      {"f16", {}},
      {"fp8", {1, 1, DType::fp8, true}},
      {"fp8_e4m3", {1, 1, DType::fp8, true}},
      {"e4m3", {1, 1, DType::fp8, false}},
      {"fp8_block", {1 + 4.0 / (128 * 128), 1 + 4.0 / 128, DType::fp8, true}},
      {"int8", {1, 1, DType::int8, true}},
      {"nvfp4", {0.5625, 0.5625, DType::fp4, true}},
      {"int4", {0.5 + 4.0 / 64, 2, DType::bfloat16, false}},
      {"kivi2", {0.25 + 4.0 / 32, 2, DType::bfloat16, false}},
      {"int4_wo", {0.5 + 2.0 / 128, 2, DType::bfloat16, false}},
      {"w4a16_mxfp4", {0.5 + 1.0 / 32, 2, DType::bfloat16, false}},
      {"w4a8_mxfp4_mxfp8", {0.5 + 1.0 / 32, 1 + 1.0 / 32, DType::fp8, true}},
      {"fp32", {4, 4, DType::float32, false}},
  }};
  const auto found = std::ranges::find(formats, dtype, &std::pair<std::string_view, Format>::first);
  return found == formats.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace kvsim::cost
