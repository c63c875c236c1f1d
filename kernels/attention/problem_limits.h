#pragma once
#include <algorithm>
#include <cstdint>

#include "kernels/host/device.h"

// What the problems of the attention families have in common.
namespace kvsim::kernels {

// Relative errors of outputs allowed where probabilities stay f32, and where they become bf16.
constexpr double gate_f32 = 4e-3, gate_bf16_p = 5e-3;

// A GPU that is not there is taken for one of this many SMs.
constexpr int default_sms = 132;
inline int sms_of(const Device& device) {
  return device.facts().sms > 0 ? device.facts().sms : default_sms;
}

// Rows that check() recomputes of sequences of up to `longest` tokens: so many that they have 2^19
// tokens together, but four always.
inline int checked_rows(int max_rows, int longest) {
  const int affordable = (1 << 19) / std::max(1, longest);
  return std::min(max_rows, std::max(4, affordable));
}

}  // namespace kvsim::kernels
