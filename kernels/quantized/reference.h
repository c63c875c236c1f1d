#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/quantized/layout.h"

// Quantisation on the host, written apart from the kernels: the bytes of a block from its values,
// and the values back from the bytes. Single steps are in float, as the kernels define them.
namespace kvsim::kernels {

enum class KvSide { key, value };

std::string_view format_name(KvFormat format);

// Where a block's tokens are and how they are scaled (scale: fp8 and nvfp4).
struct BlockShape {
  KvFormat format;
  KvSide side;
  int page;
  float scale = 1;
};

// Writes the codes and scales of tokens first..first+count-1 into `block`; values are [page][128].
void quantise_block(const BlockShape& shape, std::span<const float> values, int first, int count,
                    std::span<std::uint8_t> block);

// [tokens][128] values of the block's first `tokens` tokens, exact products and sums of what is
// stored.
std::vector<double> dequantise_block(const BlockShape& shape, std::span<const std::uint8_t> block,
                                     int tokens);

}  // namespace kvsim::kernels
