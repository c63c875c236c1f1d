#pragma once
#include <optional>
#include <string_view>

#include "spec/dtype.h"

namespace kvsim::cost {

// How a dtype column's value is stored and computed with.
struct Format {
  double weight_bytes = 2, activation_bytes = 2;  // per element, scales included
  spec::DType operands = spec::DType::bfloat16;
  bool quantises_activations = false;  // an extra kernel before the product
};

// bf16, fp8 (per tensor), fp8_block (128 x 128 scales), int8, nvfp4, int4_wo, w4a16_mxfp4,
// w4a8_mxfp4_mxfp8, fp32 and their aliases, as measurement files spell them; e4m3 (operands
// that come in it), int4 (groups of 64)
// and kivi2 (groups of 32), the caches of kvbench with fp16 scale and zero point.
std::optional<Format> find_format(std::string_view dtype);

}  // namespace kvsim::cost
