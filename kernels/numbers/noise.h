#pragma once
#include <cstdint>

#include "kernels/numbers/portable.h"

namespace kvsim::kernels {

// SplitMix64's finaliser over a counter: the same bits on host and GPU, in any order.
KVSIM_FN inline std::uint64_t noise_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = (seed * 0x9e3779b97f4a7c15ULL) ^ (index + 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// Close to N(0, 1) with |x| < 6: the sum of eight bytes, so exact in float everywhere. Element
// `index` of tensor `seed` can be recomputed alone, which spares references the download.
KVSIM_FN inline float noise_normal(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t bits = noise_bits(seed, index);
  // Pairwise sums of bytes, then of 16-bit fields: eight bytes to one number.
  bits = (bits & 0x00ff00ff00ff00ffULL) + ((bits >> 8) & 0x00ff00ff00ff00ffULL);
  bits += bits >> 32;
  bits += bits >> 16;
  const auto sum = static_cast<std::int32_t>(bits & 0xffffU);
  // Mean 1020, variance 8 (256^2 - 1) / 12.
  return static_cast<float>(sum - 1020) * (1.0F / 209.0164F);
}

}  // namespace kvsim::kernels
