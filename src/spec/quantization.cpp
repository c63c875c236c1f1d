#include <array>

#include "spec/weights.h"

namespace kvsim::spec {
namespace {

struct Preset {
  std::string_view name;
  double bits;
  std::int64_t group;
  double scale_bits;
  bool experts_only;
};

constexpr std::array presets{
    Preset{"none", 16, 0, 0, false},
    Preset{"fp8", 8, 0, 0, false},
    Preset{"fp8_block", 8, 128 * 128, 32, false},
    Preset{"int8", 8, 0, 0, false},
    Preset{"awq", 4, 128, 20, false},  // 16-bit scale and 4-bit zero point
    Preset{"gptq", 4, 128, 20, false},
    Preset{"nvfp4", 4, 16, 8, false},
    Preset{"mxfp4", 4, 32, 8, true},
    Preset{"gguf", 4.85, 0, 0, false},  // q4_K_M: 4.85 bits per weight over a Llama-class model
    Preset{"bitsandbytes", 4, 64, 8, false},
};

}  // namespace

std::optional<Quantization> quantization_preset(std::string_view name) {
  for (const Preset& p : presets)
    if (p.name == name) {
      Quantization q;
      q.method = p.name;
      q.bits = p.bits;
      q.group_size = p.group;
      q.scale_bits = p.scale_bits;
      q.experts_only = p.experts_only;
      return q;
    }
  return std::nullopt;
}

std::vector<std::string> quantization_names() {
  std::vector<std::string> names;
  for (const Preset& p : presets) names.emplace_back(p.name);
  return names;
}

}  // namespace kvsim::spec
