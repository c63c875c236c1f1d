#include "kernels/quantized/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/numbers/numbers.h"

namespace kvsim::kernels {
namespace {

constexpr std::size_t dim = quantised_dim;

template <class T>
void put(std::span<std::uint8_t> bytes, std::size_t at, T value) {
  std::memcpy(&bytes[at], &value, sizeof value);
}
template <class T>
T get(std::span<const std::uint8_t> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, &bytes[at], sizeof value);
  return value;
}

// Byte and shift of a 4-bit or 2-bit code inside its row: the even channels of a word's 32 / bits
// go to its low two bytes, the odd ones to its high two.
struct Place {
  std::size_t byte;
  unsigned shift;
};
Place place(std::size_t channel, unsigned bits) {
  const std::size_t per_word = 32 / bits, inside = channel % per_word;
  const std::size_t bit = inside / 2 * bits;
  return {4 * (channel / per_word) + 2 * (inside % 2) + bit / 8, static_cast<unsigned>(bit % 8)};
}

void put_code(std::span<std::uint8_t> row, std::size_t channel, unsigned bits, unsigned code) {
  const Place at = place(channel, bits);
  const unsigned mask = ((1U << bits) - 1U) << at.shift;
  row[at.byte] = static_cast<std::uint8_t>((row[at.byte] & ~mask) | code << at.shift);
}
unsigned get_code(std::span<const std::uint8_t> row, std::size_t channel, unsigned bits) {
  const Place at = place(channel, bits);
  return (static_cast<unsigned>(row[at.byte]) >> at.shift) & ((1U << bits) - 1U);
}

float finite_f16(float x) { return std::clamp(x, -65504.0F, 65504.0F); }

unsigned affine_code(float x, F16 scale, F16 zero, float top) {
  const float step = to_float(scale);
  const float inverse = step > 0 ? 1.0F / step : 0.0F;
  const float from_zero = x - to_float(zero);
  return static_cast<unsigned>(std::nearbyint(std::clamp(from_zero * inverse, 0.0F, top)));
}

struct Affine {
  F16 scale, zero;
};
Affine affine(float lo, float hi, float top) {
  return {to_f16(finite_f16((hi - lo) / top)), to_f16(finite_f16(lo))};
}

float largest(std::span<const float> x) {
  float out = 0;
  for (const float value : x) out = std::max(out, std::fabs(value));
  return out;
}

struct Block {
  const BlockShape& shape;
  std::size_t code_row = static_cast<std::size_t>(code_row_bytes(shape.format));
  std::size_t scale_row = static_cast<std::size_t>(scale_row_bytes(shape.format));
  std::size_t scales = code_row * static_cast<std::size_t>(shape.page);
};

// A group of `count` channels of one row to codes of `bits` bits and {scale, zero}.
void affine_groups(const Block& at, std::span<const float> row, std::size_t token,
                   std::size_t count, unsigned bits, std::span<std::uint8_t> block) {
  const auto codes = block.subspan(token * at.code_row, at.code_row);
  const auto top = static_cast<float>((1U << bits) - 1U);
  for (std::size_t g = 0; g < dim / count; ++g) {
    const auto group = row.subspan(g * count, count);
    const auto [lo, hi] = std::minmax_element(group.begin(), group.end());
    const Affine scale = affine(*lo, *hi, top);
    put(block, at.scales + token * at.scale_row + 4 * g, scale);
    for (std::size_t i = 0; i < count; ++i)
      put_code(codes, g * count + i, bits, affine_code(group[i], scale.scale, scale.zero, top));
  }
}

void quantise_token(const Block& at, std::span<const float> row, std::size_t token,
                    std::span<std::uint8_t> block) {
  const auto codes = block.subspan(token * at.code_row, at.code_row);
  const std::size_t scales = at.scales + token * at.scale_row;
  switch (at.shape.format) {
    case KvFormat::fp8: {
      const float inverse = 1.0F / at.shape.scale;
      for (std::size_t d = 0; d < dim; ++d) codes[d] = to_e4m3(row[d] * inverse).bits;
      return;
    }
    case KvFormat::int8: {
      const F16 scale = to_f16(finite_f16(largest(row) / 127.0F));
      const float inverse = to_float(scale) > 0 ? 1.0F / to_float(scale) : 0.0F;
      put(block, scales, scale);
      for (std::size_t d = 0; d < dim; ++d)
        codes[d] = static_cast<std::uint8_t>(static_cast<std::int8_t>(
            std::nearbyint(std::clamp(row[d] * inverse, -127.0F, 127.0F))));
      return;
    }
    case KvFormat::int4:
      return affine_groups(at, row, token, 64, 4, block);
    case KvFormat::kivi2:
      return affine_groups(at, row, token, 32, 2, block);
    case KvFormat::nvfp4:
      for (std::size_t g = 0; g < dim / 16; ++g) {
        const auto group = row.subspan(16 * g, 16);
        const E4m3 scale = to_e4m3(largest(group) / (6.0F * at.shape.scale));
        const float step = to_float(scale) * at.shape.scale;
        const float inverse = step > 0 ? 1.0F / step : 0.0F;
        block[scales + g] = scale.bits;
        for (std::size_t i = 0; i < 16; ++i)
          put_code(codes, 16 * g + i, 4, float_to_e2m1(group[i] * inverse));
      }
      return;
  }
}

// KIVI's keys: 32 tokens from `token`, each channel by itself.
void quantise_channels(const Block& at, std::span<const float> values, std::size_t token,
                       std::span<std::uint8_t> block) {
  const std::size_t scales = at.scales + token * at.scale_row;
  for (std::size_t d = 0; d < dim; ++d) {
    float column[kivi_group];
    for (std::size_t t = 0; t < kivi_group; ++t) column[t] = values[(token + t) * dim + d];
    const auto [lo, hi] = std::minmax_element(std::begin(column), std::end(column));
    const Affine scale = affine(*lo, *hi, 3.0F);
    put(block, scales + 2 * d, scale.scale);
    put(block, scales + 2 * (dim + d), scale.zero);
    for (std::size_t t = 0; t < kivi_group; ++t)
      put_code(block.subspan((token + t) * at.code_row, at.code_row), d, 2,
               affine_code(column[t], scale.scale, scale.zero, 3.0F));
  }
}

double stored_value(const Block& at, std::span<const std::uint8_t> block, std::size_t token,
                    std::size_t d) {
  const auto codes = block.subspan(token * at.code_row, at.code_row);
  const std::size_t scales = at.scales + token * at.scale_row;
  const auto f16 = [&](std::size_t byte) {
    return static_cast<double>(to_float(get<F16>(block, byte)));
  };
  switch (at.shape.format) {
    case KvFormat::fp8:
      return static_cast<double>(to_float(E4m3{codes[d]})) * static_cast<double>(at.shape.scale);
    case KvFormat::int8:
      return static_cast<std::int8_t>(codes[d]) * f16(scales);
    case KvFormat::int4:
      return get_code(codes, d, 4) * f16(scales + d / 64 * 4) + f16(scales + d / 64 * 4 + 2);
    case KvFormat::nvfp4:
      return static_cast<double>(e2m1_to_float(get_code(codes, d, 4))) *
             static_cast<double>(to_float(E4m3{block[scales + d / 16]})) *
             static_cast<double>(at.shape.scale);
    case KvFormat::kivi2:
      if (at.shape.side == KvSide::key) {
        const std::size_t group = at.scales + token / kivi_group * kivi_group * at.scale_row;
        return get_code(codes, d, 2) * f16(group + 2 * d) + f16(group + 2 * (dim + d));
      }
      return get_code(codes, d, 2) * f16(scales + d / 32 * 4) + f16(scales + d / 32 * 4 + 2);
  }
  return 0;
}

}  // namespace

std::string_view format_name(KvFormat format) {
  switch (format) {
    case KvFormat::fp8:
      return "fp8";
    case KvFormat::int8:
      return "int8";
    case KvFormat::int4:
      return "int4";
    case KvFormat::kivi2:
      return "kivi2";
    case KvFormat::nvfp4:
      return "nvfp4";
  }
  return "";
}

void quantise_block(const BlockShape& shape, std::span<const float> values, int first, int count,
                    std::span<std::uint8_t> block) {
  const Block at{shape};
  const auto begin = static_cast<std::size_t>(first);
  const auto end = begin + static_cast<std::size_t>(count);
  if (shape.format == KvFormat::kivi2 && shape.side == KvSide::key) {
    for (std::size_t t = begin; t < end; t += kivi_group) quantise_channels(at, values, t, block);
  } else {
    for (std::size_t t = begin; t < end; ++t)
      quantise_token(at, values.subspan(t * dim, dim), t, block);
  }
}

std::vector<double> dequantise_block(const BlockShape& shape, std::span<const std::uint8_t> block,
                                     int tokens) {
  const Block at{shape};
  std::vector<double> out(static_cast<std::size_t>(tokens) * dim);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = stored_value(at, block, i / dim, i % dim);
  return out;
}

}  // namespace kvsim::kernels
