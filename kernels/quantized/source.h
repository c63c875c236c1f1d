#pragma once
#include <cstdint>
#include <vector>

#include "kernels/host/array.h"
#include "kernels/numbers/numbers.h"

// The bf16 values that are quantised: offset + amplitude * noise, rounded to bf16.
namespace kvsim::kernels {

struct Source {
  float amplitude = 1, offset = 0;

  // Element `index` of tensor `seed`.
  float value(std::uint64_t seed, std::uint64_t index) const;
  // Fills the first `count` elements of an array with tensor `seed`.
  void fill(Device& device, Array<Bf16>& array, std::size_t count, std::uint64_t seed) const;
};

}  // namespace kvsim::kernels
