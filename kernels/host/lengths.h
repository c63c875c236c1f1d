#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

// Lengths of sequences as a case's shape states them.
namespace kvsim::kernels {

// 0 without sequences.
inline std::int64_t longest_of(std::span<const int> lens) {
  return lens.empty() ? 0 : *std::max_element(lens.begin(), lens.end());
}

inline std::string spread_of(std::span<const int> lens) {
  for (const int len : lens)
    if (len != lens.front()) return "ragged";
  return "uniform";
}

}  // namespace kvsim::kernels
