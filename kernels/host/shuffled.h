#pragma once
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/numbers/noise.h"

namespace kvsim::kernels {

// The numbers 0 ... count - 1 in an order that the seed chooses.
inline std::vector<std::int32_t> shuffled(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[noise_bits(seed, i) % i]);
  return order;
}

}  // namespace kvsim::kernels
