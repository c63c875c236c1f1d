#pragma once
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/host/problem.h"
#include "kernels/host/variants.h"
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

template <class Args>
std::vector<VariantInfo> variant_infos(VariantList<Args> list, int kernels = 1) {
  std::vector<VariantInfo> out;
  for (const auto& v : list)
    out.push_back({.name = v.name, .min_cc = v.min_cc, .baseline = v.baseline, .kernels = kernels});
  return out;
}

}  // namespace kvsim::kernels
