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
    // GGUF types: bits per weight over a Llama-class model, mixed types of a file averaged
    // (llama.cpp's quantize tool prints them).
    Preset{"gguf", 4.85, 0, 0, false},  // q4_k_m
    Preset{"gguf_q8_0", 8.5, 0, 0, false},
    Preset{"gguf_q6_k", 6.5625, 0, 0, false},
    Preset{"gguf_q5_k_m", 5.69, 0, 0, false},
    Preset{"gguf_q5_0", 5.5, 0, 0, false},
    Preset{"gguf_q4_k_m", 4.85, 0, 0, false},
    Preset{"gguf_q4_k_s", 4.58, 0, 0, false},
    Preset{"gguf_q4_0", 4.55, 0, 0, false},
    Preset{"gguf_q4_1", 5.0, 0, 0, false},
    Preset{"gguf_iq4_xs", 4.25, 0, 0, false},
    Preset{"gguf_q3_k_m", 3.91, 0, 0, false},
    Preset{"gguf_q2_k", 2.63, 0, 0, false},
    Preset{"bitsandbytes", 4, 64, 8, false},
};

}  // namespace

std::optional<Quantization> quantization_preset(std::string_view name) {
  for (const Preset& p : presets)
    if (p.name == name) {
      Quantization q;
      // The storage type is in the bits; engines know one method.
      q.method = p.name.substr(0, 5) == "gguf_" ? p.name.substr(0, 4) : p.name;
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
